"""More passages with a true statement and one that says more than they do, for ``benchmarks.llm_writers``.

Written by somebody who had not read the checks: (passage, what it says, what it does not).
"""

from __future__ import annotations

UNSEEN: tuple[tuple[str, str, str], ...] = (
    # a part told as the whole
    (
        "Of the 412 patients enrolled, 37 stopped treatment early because of nausea. The remaining "
        "patients completed the twelve-week course.",
        "Nausea led 37 patients to stop treatment early.",
        "The 412 patients stopped treatment early because of nausea.",
    ),
    (
        "The bank will close about a third of its branches by June, most of them in small towns. Staff at "
        "the affected sites have been offered transfers.",
        "Roughly one in three of the bank's branches is due to close by June.",
        "The bank will close its branches by June.",
    ),
    (
        "Two of the four insurers named in the suit settled out of court last week.",
        "Two insurers reached a settlement out of court.",
        "The insurers named in the suit settled out of court last week.",
    ),
    (
        "Customers on the Business plan can export their audit logs as CSV files. On the other plans the "
        "logs can be viewed in the browser only.",
        "Business plan customers can export audit logs in CSV format.",
        "Customers on every plan can export their audit logs as CSV files.",
    ),
    (
        "Many of the island's bird species nest on the ground, which leaves them exposed to rats.",
        "Rats are a danger to many of the island's birds because these nest on the ground.",
        "The island's bird species all nest on the ground, which leaves them exposed to rats.",
    ),
    (
        "Parts of the old town were flooded on Sunday evening after the river burst its banks. Nobody was "
        "hurt.",
        "Some of the old town was flooded on Sunday.",
        "The entire old town was flooded on Sunday evening after the river burst its banks.",
    ),
    (
        "Eleven of the committee's fifteen members supported the amendment, and four abstained.",
        "Eleven members of the committee supported the amendment.",
        "The whole committee supported the amendment.",
    ),
    (
        "A handful of the letters in the archive are signed; the authorship of the rest is disputed.",
        "A few of the archive's letters bear a signature.",
        "The letters in the archive are signed.",
    ),
    # a possibility, plan or forecast told as fact
    (
        "Management expects revenue of 1.2 billion euros for the full year, compared with 1.1 billion "
        "euros in 2022.",
        "The company forecasts full-year revenue of 1.2 billion euros.",
        "Revenue for the full year was 1.2 billion euros, compared with 1.1 billion euros in 2022.",
    ),
    (
        "The rash may be an allergic reaction to the antibiotic. Dr. Oyelaran has ordered a skin test, "
        "the result of which is due on Thursday.",
        "An allergy to the antibiotic is one possible explanation for the rash.",
        "The rash is an allergic reaction to the antibiotic.",
    ),
    (
        "Lawmakers are considering a bill that would ban the sale of flavoured vapes in the state.",
        "A ban on selling flavoured vapes is under consideration in the state.",
        "Lawmakers banned the sale of flavoured vapes in the state.",
    ),
    (
        "The city intends to replace its diesel buses with electric ones over the next decade, provided "
        "that the money can be found.",
        "The city means to switch from diesel to electric buses within ten years if it can fund the change.",
        "The city has replaced its diesel buses with electric ones.",
    ),
    (
        "Faint dark streaks on the slope might have been left by flowing brine, although dry sand could "
        "produce the same pattern.",
        "Flowing brine is one of two possible causes of the streaks on the slope.",
        "The dark streaks on the slope were left by flowing brine.",
    ),
    (
        "Our engineers are investigating the login errors and hope to have a fix out by Friday.",
        "Engineers hope to fix the login errors by Friday.",
        "Our engineers will have a fix for the login errors out by Friday.",
    ),
    (
        "Analysts at two brokerages predict that copper prices will double by 2030.",
        "Two brokerages' analysts expect the price of copper to double by 2030.",
        "Copper prices are certain to double by 2030.",
    ),
    (
        "The manuscript was probably copied in Reichenau in the early tenth century.",
        "The manuscript was probably copied in Reichenau.",
        "The manuscript was copied in Reichenau in the early tenth century.",
    ),
    # among the most told as the most
    (
        "Lake Malawi is one of the deepest lakes in Africa and holds a great number of cichlid species.",
        "Lake Malawi ranks among Africa's deepest lakes.",
        "Lake Malawi is the deepest lake in Africa.",
    ),
    (
        "With 38 offices, the firm counts among the largest legal practices in Scandinavia.",
        "The firm has 38 offices and is one of Scandinavia's largest legal practices.",
        "With 38 offices, the firm is the largest legal practice in Scandinavia.",
    ),
    (
        "Headache was one of the most common side effects, along with fatigue and dry mouth.",
        "Headache, fatigue and dry mouth were common side effects.",
        "Headache was the most common side effect.",
    ),
    (
        "The fund was a top-ten performer in its category last year, returning 14.2 percent after fees.",
        "After fees, the fund returned 14.2 percent last year.",
        "The fund was the top performer in its category last year.",
    ),
    (
        "Expired certificates are a leading cause of failed syncs. Check the date in the connection panel "
        "before you open a ticket.",
        "Failed syncs often come from a certificate that has expired.",
        "Expired certificates are the leading cause of failed syncs.",
    ),
    (
        "Saturday's storm was one of the worst to strike the coast in living memory, with gusts of 160 "
        "km/h at the lighthouse.",
        "At the lighthouse, Saturday's storm brought gusts of 160 km/h.",
        "Saturday's storm was the worst to strike the coast in living memory.",
    ),
    (
        "Written around 1150, the chronicle is one of the earliest surviving accounts of the siege.",
        "The chronicle dates from about 1150 and is an early account of the siege.",
        "The chronicle is the earliest surviving account of the siege.",
    ),
    # a correlation told as a cause
    (
        "Adults who ate nuts daily had a 15 percent lower rate of heart disease than those who ate none. "
        "The study did not control for income or exercise.",
        "Daily nut eaters had heart disease less often than people who ate no nuts.",
        "Eating nuts daily lowers the rate of heart disease by 15 percent.",
    ),
    (
        "Towns with more streetlights reported fewer burglaries over the same five years.",
        "Fewer burglaries were reported in towns that had more streetlights.",
        "Streetlights prevented burglaries in the towns over the five years.",
    ),
    (
        "The share price slid 6 percent on the day the finance chief resigned.",
        "On the day of the finance chief's resignation the shares lost 6 percent.",
        "The share price slid 6 percent because the finance chief resigned.",
    ),
    (
        "High levels of the protein were associated with earlier onset of dementia in both cohorts.",
        "In both cohorts, earlier dementia went together with high levels of the protein.",
        "High levels of the protein brought on dementia earlier in both cohorts.",
    ),
    (
        "Most of the reports about battery drain came in after version 5.3 was released. We have not yet "
        "been able to reproduce the problem.",
        "The majority of the battery drain reports arrived after the release of version 5.3.",
        "Version 5.3 causes battery drain.",
    ),
    (
        "Bee numbers in the valley fell over the same period in which maize planting expanded.",
        "While maize planting expanded, the number of bees in the valley went down.",
        "The expansion of maize planting made bee numbers in the valley fall.",
    ),
    (
        "Teenagers who spent over four hours a day on social media were more likely to report anxiety, "
        "according to the survey.",
        "Anxiety was reported more often by teenagers who used social media for over four hours a day.",
        "Spending over four hours a day on social media gives teenagers anxiety, according to the survey.",
    ),
    # animals, cells or a subgroup told as people in general
    (
        "In cultured liver cells the extract halved the uptake of fat within 48 hours.",
        "Cultured liver cells took up half as much fat after treatment with the extract.",
        "The extract halved the uptake of fat in patients within 48 hours.",
    ),
    (
        "Rats given the compound for six weeks ran through the maze faster than untreated rats. The "
        "authors caution that the dose was far above anything used in the clinic.",
        "After six weeks on the compound, rats were quicker in the maze than untreated ones.",
        "The compound improves memory in humans.",
    ),
    (
        "Among women who had already been through menopause, the supplement lowered the risk of hip "
        "fracture. No effect was seen in the younger group.",
        "The supplement reduced hip fractures in postmenopausal women.",
        "The supplement lowered the risk of hip fracture in women of all ages.",
    ),
    (
        "The gene therapy restored hearing in deaf zebrafish larvae, and a study in pigs is in preparation.",
        "Deaf zebrafish larvae regained hearing through the gene therapy.",
        "The gene therapy restored hearing in deaf children.",
    ),
    (
        "All 64 volunteers were healthy male students between 19 and 26. After the training they slept 40 "
        "minutes longer per night.",
        "The male students slept 40 minutes longer per night after the training.",
        "Adults sleep 40 minutes longer per night after the training.",
    ),
    (
        "First-time buyers under 35 now put down an average of 11 percent, the lender said.",
        "According to the lender, first-time buyers younger than 35 make an average down payment of 11 "
        "percent.",
        "Home buyers now put down an average of 11 percent, the lender said.",
    ),
    (
        "Antibodies taken from llamas blocked the virus in a dish. Whether they would work in an infected "
        "person is unknown.",
        "Llama antibodies stopped the virus in laboratory dishes.",
        "Antibodies taken from llamas block the virus in infected people.",
    ),
    # one time or place told as always or everywhere
    (
        "During the 2019 drought, farmers in the lower basin were allowed to draw water only at night.",
        "In the drought of 2019, lower basin farmers could take water only at night.",
        "Farmers in the lower basin are allowed to draw water only at night.",
    ),
    (
        "The court in Leeds dismissed the claim because the notice had been served one day late.",
        "A Leeds court threw out the claim over a notice that was served a day late.",
        "Courts always dismiss a claim when the notice has been served one day late.",
    ),
    (
        "In the fourth quarter, the airline's flights out of Dublin ran on time 91 percent of the time.",
        "Fourth-quarter punctuality for the airline's Dublin departures was 91 percent.",
        "The airline's flights run on time 91 percent of the time.",
    ),
    (
        "Same-day delivery is offered in Greater Manchester. We hope to add Liverpool in the spring.",
        "Customers in Greater Manchester can have same-day delivery.",
        "Same-day delivery is offered throughout the United Kingdom.",
    ),
    (
        "On Tuesday morning the emergency department at St. Anne's turned away ambulances for three hours.",
        "Ambulances were turned away from St. Anne's for three hours on Tuesday morning.",
        "The emergency department at St. Anne's regularly turns away ambulances.",
    ),
    (
        "In the highlands of Ethiopia the plant flowers twice a year, in March and again in October.",
        "The plant has two flowering seasons a year in Ethiopia's highlands.",
        "Wherever it grows, the plant flowers twice a year, in March and again in October.",
    ),
    (
        "Unemployment in the port district stood at 12 percent last August, when the shipyard was idle.",
        "Last August, 12 percent of the port district's workforce was unemployed.",
        "Unemployment in the country stood at 12 percent last August.",
    ),
    # a condition dropped
    (
        "A refund is paid if the item is returned unopened within 14 days. Postage is not refunded.",
        "Items sent back unopened within 14 days are refunded, but the postage is not.",
        "A refund is paid if the item is returned.",
    ),
    (
        "Subject to approval by the regulator, the two exchanges will merge on 1 October.",
        "The merger of the two exchanges still needs the regulator's approval.",
        "The two exchanges will merge on 1 October.",
    ),
    (
        "The tenant may sublet the flat only with the landlord's written consent, which must not be "
        "withheld without good reason.",
        "Subletting requires the landlord's consent in writing.",
        "The tenant may sublet the flat.",
    ),
    (
        "Unless kidney function is impaired, the usual dose is 500 mg twice daily.",
        "Patients whose kidneys work normally usually take 500 mg twice a day.",
        "The usual dose is 500 mg twice daily for any patient, whatever the kidney function.",
    ),
    (
        "Water boils at 100 °C at sea level; at the summit station it boils at about 86 °C.",
        "At sea level the boiling point of water is 100 °C.",
        "Water boils at 100 °C at any altitude.",
    ),
    (
        "Dividends are exempt from the levy for shareholders who have held at least 10 percent of the "
        "capital for a full year.",
        "Holding 10 percent of the capital for a whole year makes a shareholder's dividends exempt.",
        "Dividends are exempt from the levy for shareholders.",
    ),
    (
        "Offline mode works as long as you opened the file at least once while connected. Otherwise you "
        "will see a grey placeholder.",
        "Files opened once while connected are available in offline mode.",
        "Offline mode works for every file, even if you never opened it while connected.",
    ),
    (
        "The witness would be granted immunity should she agree to testify against both brothers.",
        "Immunity was on offer to the witness in return for testimony against both brothers.",
        "The witness was granted immunity.",
    ),
    # an attribution dropped
    (
        "According to the union, the contractor skipped safety inspections for most of last winter. The "
        "contractor denies this.",
        "The union accuses the contractor of skipping safety inspections last winter.",
        "The contractor skipped safety inspections for most of last winter.",
    ),
    (
        "Prosecutors allege that Marchetti moved 3 million dollars through shell companies in Cyprus.",
        "Marchetti is alleged to have channelled 3 million dollars through shell companies.",
        "Marchetti moved 3 million dollars through shell companies in Cyprus.",
    ),
    (
        "The manufacturer claims that its mattress relieves back pain within a week; no independent tests "
        "have been published.",
        "Independent tests of the mattress have not been published.",
        "The mattress relieves back pain within a week.",
    ),
    (
        "A customer wrote that the update deleted her photos. Support has asked for the device logs.",
        "One customer reports having lost her photos in the update.",
        "The update deleted a customer's photos.",
    ),
    (
        "In his memoirs, the general boasts that he alone persuaded the king to retreat.",
        "The general's memoirs give him sole credit for persuading the king to retreat.",
        "The general alone persuaded the king to retreat.",
    ),
    (
        "The short seller's report describes the company's order book as largely fictitious. The shares "
        "were suspended at noon.",
        "A short seller has called most of the order book fictitious.",
        "The company's order book is largely fictitious.",
    ),
    (
        "Critics of the dam say it has driven three fish species out of the upper river.",
        "The dam's critics blame it for the loss of three fish species in the upper river.",
        "The dam has driven three fish species out of the upper river.",
    ),
    # approximate, up to or at least told as exact or more
    (
        "The new boiler uses up to 30 percent less gas than the model it replaces.",
        "Gas use falls by no more than 30 percent with the new boiler.",
        "The new boiler uses 30 percent less gas than the model it replaces.",
    ),
    (
        "At least 17 people were injured when the stand collapsed, the fire service said on Monday.",
        "The fire service put the number of injured at 17 or more.",
        "Exactly 17 people were injured when the stand collapsed.",
    ),
    (
        "The cathedral took roughly 80 years to build and was consecrated in 1248.",
        "Building the cathedral took about eight decades.",
        "The cathedral took exactly 80 years to build.",
    ),
    (
        "Nearly half of the respondents had changed their pension provider since 2020.",
        "Just under half of those who answered had switched pension provider since 2020.",
        "More than half of the respondents had changed their pension provider since 2020.",
    ),
    (
        "Recovery usually takes between two and six weeks, depending on the patient's age.",
        "Most patients need two to six weeks to recover.",
        "Recovery takes two weeks.",
    ),
    (
        "The offence carries a prison term of up to five years or a fine.",
        "Five years is the longest prison term for the offence.",
        "The offence carries a prison term of five years.",
    ),
    (
        "Support replies to most tickets in under four hours, though it can take longer at weekends.",
        "Most tickets are answered within four hours.",
        "Support replies to all tickets in under four hours.",
    ),
    # a weak wording made strong
    (
        "The cream eased the itching in 22 of the 30 children who used it.",
        "Itching became milder in 22 of 30 children treated with the cream.",
        "The cream cured the itching in 22 of the 30 children who used it.",
    ),
    (
        "The new filter reduces the amount of lead in drinking water. The utility still advises running "
        "the tap for a minute.",
        "Drinking water contains less lead with the new filter.",
        "The new filter eliminates lead from drinking water.",
    ),
    (
        "Turnover edged up in the second half, helped by a slightly weaker yen.",
        "A somewhat weaker yen contributed to a small rise in turnover in the second half.",
        "Turnover soared in the second half, helped by a weaker yen.",
    ),
    (
        "The appeal judges expressed doubts about the reliability of the expert's report.",
        "The reliability of the expert's report was questioned by the appeal judges.",
        "The appeal judges rejected the expert's report as worthless.",
    ),
    (
        "Clearing the cache can make the app a little faster on older phones.",
        "On older phones, the app may speed up slightly once the cache is cleared.",
        "Clearing the cache makes the app much faster on older phones.",
    ),
    (
        "The fossils suggest that the animal spent some of its life in water.",
        "There are fossil hints that the animal lived in water for part of its life.",
        "The fossils prove that the animal spent its life in water.",
    ),
    (
        "The minister criticised parts of the trade agreement but said that talks would continue.",
        "Despite some criticism of the trade agreement, the minister said that talks would go on.",
        "The minister condemned the trade agreement.",
    ),
    # a part done told as complete
    (
        "By the end of May, crews had cleared 60 of the 95 kilometres of blocked road.",
        "Sixty kilometres of blocked road were clear by the end of May.",
        "By the end of May, crews had cleared the blocked road.",
    ),
    (
        "The group has repaid 250 million of the 400 million dollars it borrowed in 2020, and the rest "
        "falls due next autumn.",
        "Of the 400 million dollars borrowed in 2020, the group has paid back 250 million.",
        "The group has repaid the 400 million dollars it borrowed in 2020.",
    ),
    (
        "We have started moving mailboxes to the new servers. Accounts from A to K are done; the others "
        "follow this weekend.",
        "Mailboxes for accounts A to K have been moved to the new servers.",
        "We have moved all mailboxes to the new servers.",
    ),
    (
        "Excavation of the villa began in 1998 and has so far uncovered the bath and part of the courtyard.",
        "Since 1998 the villa's bath and a section of its courtyard have been dug out.",
        "Excavation of the villa, begun in 1998, has uncovered the whole building.",
    ),
    (
        "The first of two doses had been given to 8,400 health workers by Friday.",
        "By Friday, 8,400 health workers had received their first dose.",
        "By Friday, 8,400 health workers had been given both doses.",
    ),
    (
        "The lower house passed the bill on Wednesday; the senate will take it up after the recess.",
        "The bill cleared the lower house on Wednesday and now goes to the senate.",
        "Parliament passed the bill on Wednesday.",
    ),
    (
        "Sequencing of the wheat sample is about 90 percent finished, with two chromosomes still to be read.",
        "Two chromosomes of the wheat sample remain to be sequenced.",
        "Sequencing of the wheat sample is finished.",
    ),
    (
        "Of the 412 patients enrolled at the four clinics, 268 completed the twelve-week course; the "
        "remainder withdrew, mostly because of nausea.",
        "Not everyone who enrolled finished the twelve-week course.",
        "The 412 patients enrolled at the four clinics completed the twelve-week course.",
    ),
    (
        "Analysts at the bank forecast that inflation will slow to 2.1 percent by the end of next year.",
        "According to the bank's analysts, inflation should ease to 2.1 percent by the end of next year.",
        "Inflation has slowed to 2.1 percent, analysts at the bank reported.",
    ),
    (
        "Lake Ohrid is one of Europe's oldest lakes, with a history of more than a million years.",
        "Lake Ohrid has existed for over a million years.",
        "Lake Ohrid is Europe's oldest lake, with a history of more than a million years.",
    ),
    (
        "In a cohort of 21,000 Danes, people who drank three or more cups of coffee a day had lower "
        "rates of liver disease.",
        "Among 21,000 Danes, liver disease was rarer in those who had at least three cups of coffee daily.",
        "In a cohort of 21,000 Danes, three or more cups of coffee a day prevented liver disease.",
    ),
    (
        "In rats fed a high-fat diet, the compound reduced the accumulation of fat in the liver by "
        "nearly half.",
        "Rats on fatty food stored close to 50 percent less fat in the liver when they got the compound.",
        "In people on a high-fat diet, the compound reduces the accumulation of fat in the liver by "
        "nearly half.",
    ),
    (
        "Trains on the coastal line were cancelled on Tuesday morning because of flooding near Dawlish.",
        "Flooding near Dawlish stopped coastal trains on Tuesday morning.",
        "Trains on the coastal line are regularly cancelled because of flooding near Dawlish.",
    ),
    (
        "You can cancel the contract free of charge provided that you notify us in writing within "
        "fourteen days of delivery.",
        "Cancelling costs nothing if you write to us in the first fourteen days after delivery.",
        "You can cancel the contract free of charge whenever you like.",
    ),
    (
        "The company's former accountant alleges that invoices were backdated. The company denies it.",
        "There is an allegation, rejected by the company, that invoices carried false dates.",
        "The company's invoices were backdated, as its former accountant revealed.",
    ),
    (
        "Side effects occurred in up to 12 percent of participants, depending on the dose.",
        "No more than 12 percent of the participants had side effects, and the dose made a difference.",
        "Side effects occurred in at least 12 percent of participants.",
    ),
    (
        "The results suggest that the sediment was deposited by a tsunami.",
        "The findings point to a tsunami as the origin of the sediment.",
        "The results prove that the sediment was deposited by a tsunami.",
    ),
    (
        "By Friday, crews had restored power to 40,000 of the 65,000 homes that lost it in the storm. "
        "The rest, mainly in the hills, were told to wait until Monday.",
        "On Friday, thousands of homes, most of them in the hills, were still without power.",
        "By Friday, crews had restored power to the 65,000 homes that lost it in the storm.",
    ),
    (
        "A handful of the bank's branches in rural Wales still offer counter service on Saturdays.",
        "On Saturdays, customers can still be served at the counter in a few rural Welsh branches of "
        "the bank.",
        "All the bank's branches in rural Wales still offer counter service on Saturdays.",
    ),
    (
        "The agency intends to launch the probe in September, weather and funding permitting.",
        "A September launch of the probe is planned, though weather or money could get in the way.",
        "The agency launched the probe in September.",
    ),
    (
        "Migraine ranks among the leading causes of disability in adults under fifty.",
        "In adults younger than fifty, migraine is a major cause of disability, alongside others.",
        "Migraine ranks first among the causes of disability in adults under fifty.",
    ),
    (
        "Share prices in the sector fell in the same week that the new tariff was announced.",
        "The announcement of the tariff and a fall in the sector's share prices came within one week.",
        "The announcement of the new tariff made share prices in the sector fall.",
    ),
    (
        "The extract killed breast cancer cells in a dish. The concentrations were far above those "
        "reached in the bloodstream.",
        "In the laboratory dish, high concentrations of the extract were deadly to breast cancer cells.",
        "The extract killed breast cancer cells in patients.",
    ),
    (
        "At the Nairobi site, the yield of the new maize variety exceeded that of the old one by 18 "
        "percent in 2022.",
        "In 2022 the new maize bore more than the old variety at Nairobi.",
        "The yield of the new maize variety exceeds that of the old one by 18 percent at every site.",
    ),
    (
        "Unless the patient has kidney disease, the dose need not be adjusted with age.",
        "Where the kidneys are healthy, age is no reason to change the dose.",
        "The dose need not be adjusted with age in any patient.",
    ),
    (
        "According to the defence, the witness was in Bristol on the night of the fire.",
        "The defence says that the witness was in Bristol on the night of the fire.",
        "The witness was in Bristol on the night of the fire.",
    ),
    (
        "The cave paintings are at least 30,000 years old.",
        "The age of the cave paintings is no less than 30,000 years.",
        "The cave paintings are exactly 30,000 years old.",
    ),
    (
        "Turnover dipped slightly in the second quarter, to 41.2 million francs.",
        "Turnover was a little lower in the second quarter.",
        "Turnover plunged in the second quarter, to 41.2 million francs.",
    ),
    (
        "Restoration of the chapel's frescoes is well advanced; the north wall was finished last autumn.",
        "The frescoes on the north wall of the chapel have been restored.",
        "Restoration of the chapel's frescoes was finished last autumn.",
    ),
    (
        "Three of the nine judges dissented, arguing that the statute had never been meant to cover "
        "software.",
        "A minority of the bench thought that the statute was not intended for software.",
        "The nine judges argued that the statute had never been meant to cover software.",
    ),
    (
        "Long-term use of the ointment might thin the skin, particularly on the face.",
        "It is possible that the skin becomes thinner when the ointment is used for a long time.",
        "Long-term use of the ointment thins the skin, particularly on the face.",
    ),
    (
        "With 340 billion in assets under management, the fund belongs to the ten largest in Asia.",
        "The fund is one of Asia's ten biggest.",
        "With 340 billion in assets under management, the fund is larger than any other in Asia.",
    ),
    (
        "Children who own more books tend to score higher in reading tests, though the study could "
        "not say why.",
        "Higher reading scores go along with owning more books, for reasons the study left open.",
        "Owning more books makes children score higher in reading tests.",
    ),
    (
        "Among men over seventy who had already had a stroke, daily aspirin cut the risk of a second one.",
        "Older men with one stroke behind them were less likely to suffer another on daily aspirin.",
        "Daily aspirin cut the risk of a stroke in men and women.",
    ),
    (
        "For much of the fourteenth century the town minted its own coins.",
        "The town had its own coinage for a large part of the fourteenth century.",
        "Throughout its history the town minted its own coins.",
    ),
    (
        "The landlord may enter the flat without notice only in an emergency such as a burst pipe.",
        "A burst pipe is a case in which the landlord need not announce a visit.",
        "The landlord may enter the flat without notice.",
    ),
    (
        "Opposition politicians called the budget illegal, a view that most constitutional lawyers reject.",
        "Most constitutional lawyers disagree with the charge that the budget broke the law.",
        "The budget was illegal.",
    ),
    (
        "The repair will cost around 240 euros, depending on the parts that are needed.",
        "Customers should count on something like 240 euros for the repair.",
        "The repair will cost 240 euros, whatever parts are needed.",
    ),
    (
        "The committee expressed concern about the minister's travel expenses.",
        "The minister's travel expenses worried the committee.",
        "The committee condemned the minister's travel expenses.",
    ),
    (
        "The senate has passed the bill, which now goes to the lower house.",
        "The lower house has still to deal with the bill.",
        "Both houses have passed the bill.",
    ),
    (
        "Although several models in the Orion range support wireless charging, the two cheapest do not.",
        "Wireless charging is available on some Orion models but not on the two cheapest.",
        "The models in the Orion range support wireless charging without exception.",
    ),
    (
        "The two supermarkets are in talks over a merger that could create the country's "
        "third-largest grocer.",
        "The two supermarkets are in talks over a merger.",
        "The merger of the two supermarkets has created the country's third-largest grocer.",
    ),
    (
        "Few novels of the decade sold as well as hers.",
        "Most novels of that decade had fewer buyers than hers.",
        "No novel of the decade sold as well as hers.",
    ),
    (
        "The streetlights in the district were replaced in 2018. In the two years that followed, "
        "recorded crime declined by a tenth. It declined in the neighbouring districts as well.",
        "After the district got new streetlights, recorded crime went down by ten percent in two years.",
        "Replacing the streetlights in 2018 reduced crime in the district by a tenth.",
    ),
    (
        "The eight volunteers, all of them trained cyclists, recovered faster after drinking cherry juice.",
        "Eight trained cyclists recuperated more quickly with cherry juice.",
        "People recover faster after drinking cherry juice.",
    ),
    (
        "Under Scottish law, a sixteen-year-old can enter into a contract.",
        "In Scotland the law lets people make contracts at sixteen.",
        "Under the law of every part of the United Kingdom, a sixteen-year-old can enter into a contract.",
    ),
    (
        "Interest of 4.5 percent is paid on balances up to 10,000 pounds if at least 500 pounds is "
        "deposited each month.",
        "Savers who pay in 500 pounds or more a month earn 4.5 percent on balances of up to 10,000.",
        "Interest of 4.5 percent is paid on balances up to 10,000 pounds, whatever is deposited each month.",
    ),
    (
        "Herodotus claims that the army numbered over two million men. Modern historians think the "
        "figure absurd.",
        "Historians today do not believe the size that Herodotus gives for the army.",
        "The army numbered over two million men.",
    ),
    (
        "Fewer than 50 of the leopards are believed to survive in the reserve.",
        "The leopards left in the reserve are estimated at under 50.",
        "More than 50 of the leopards are believed to survive in the reserve.",
    ),
    (
        "Physiotherapy brought modest relief to patients with chronic back pain.",
        "Patients with chronic back pain felt somewhat better with physiotherapy.",
        "Physiotherapy cured patients with chronic back pain.",
    ),
    (
        "We have received your documents and begun to review your claim.",
        "The review of your claim is under way.",
        "We have finished the review of your claim.",
    ),
    (
        "Roughly a third of the island's reef was bleached in the 2016 heatwave. Much of it has since "
        "recovered.",
        "About one third of the reef around the island bleached during the 2016 heatwave.",
        "The island's whole reef was bleached in the 2016 heatwave.",
    ),
    (
        "Your refund should appear on your statement within five working days.",
        "We expect the refund to show on your statement in no more than five working days.",
        "Your refund is certain to appear on your statement within five working days.",
    ),
    (
        "Password resets are one of the most common reasons why customers contact our help desk.",
        "Customers often turn to the help desk because a password has to be reset.",
        "Password resets are the number one reason why customers contact our help desk.",
    ),
    (
        "Low vitamin D levels were associated with more severe asthma attacks, the authors write, but "
        "the design does not allow conclusions about cause.",
        "Asthma attacks tended to be worse where vitamin D was low, although the study cannot tell "
        "the reason.",
        "Low vitamin D levels lead to more severe asthma attacks, the authors conclude.",
    ),
    (
        "Zebrafish lacking the gene developed an irregular heartbeat within days of hatching.",
        "Without the gene, the hearts of newly hatched zebrafish soon beat irregularly.",
        "Babies lacking the gene develop an irregular heartbeat within days of birth.",
    ),
    (
        "Live chat was unavailable for about two hours yesterday evening while we updated the system.",
        "Yesterday evening customers could not use live chat for roughly two hours.",
        "Live chat is unavailable every evening for about two hours while we update the system.",
    ),
    (
        "Heated to 70 degrees, the enzyme breaks down the plastic within a day. At lower temperatures "
        "it hardly works.",
        "The enzyme needs no more than a day to degrade the plastic at 70 degrees.",
        "The enzyme breaks down the plastic within a day at any temperature.",
    ),
    (
        "The manufacturer says its filter removes 99 percent of microplastics, although no "
        "independent tests have been published.",
        "By the manufacturer's account, hardly any microplastics get through the filter.",
        "The filter removes 99 percent of microplastics.",
    ),
    (
        "The fine can be as much as four percent of annual worldwide turnover.",
        "The ceiling for the fine is four percent of what is turned over worldwide in a year.",
        "The fine is always four percent of annual worldwide turnover.",
    ),
    (
        "We recommend that you restart the router after the update.",
        "Our advice is to restart the router once it has been updated.",
        "You must restart the router after the update.",
    ),
    (
        "The debt was partly repaid in 2019; 14 million remains outstanding.",
        "Some of the debt was paid back in 2019.",
        "The debt was repaid in full in 2019.",
    ),
    (
        "Many of the poems in the collection were written in exile. A few date from the author's "
        "student years in Prague.",
        "Some of the collection goes back to the time when the author studied in Prague.",
        "Each of the poems in the collection was written in exile.",
    ),
    (
        "The tablet is thought to have been carved by apprentices, since the signs are unusually irregular.",
        "Because the signs are so irregular, apprentices are believed to have made the tablet.",
        "The tablet was carved by apprentices, whose signs are unusually irregular.",
    ),
    (
        "The ruling is considered one of the most important on privacy in recent decades.",
        "The ruling counts as one of the weightier privacy decisions of recent decades.",
        "The ruling is considered the most important on privacy in recent decades.",
    ),
    (
        "Customers who installed the app renewed their subscriptions more often than those who did not.",
        "Subscriptions were renewed more frequently by those who installed the app than by others.",
        "Thanks to the app, customers renewed their subscriptions more often.",
    ),
    (
        "First-year students who had slept less than six hours scored worse on the memory task.",
        "On the memory task, first-years with under six hours of sleep did less well.",
        "Anyone who sleeps less than six hours scores worse on memory tasks.",
    ),
    (
        "The euro gained against the yen in three of the past four quarters.",
        "In one of the last four quarters the euro did not strengthen against the yen.",
        "The euro gained against the yen in each of the past four quarters.",
    ),
    (
        "Employees who have been with the company for two years are entitled to a sabbatical, subject "
        "to their manager's consent.",
        "If the manager agrees, staff can take a sabbatical after two years.",
        "Employees of the company are entitled to a sabbatical.",
    ),
    (
        "Villagers maintain that water from the spring heals eczema. No physician has ever examined "
        "the claim.",
        "It is a belief in the village that eczema is cured by water from the spring.",
        "Water from the spring heals eczema.",
    ),
    (
        "Nearly 3,000 people attended the vigil, the organisers estimated.",
        "The organisers put the turnout at the vigil at just under 3,000.",
        "Well over 3,000 people attended the vigil, the organisers estimated.",
    ),
    (
        "The court found it likely that the driver had been using his phone.",
        "In the court's view the driver had probably been on the phone.",
        "The court found it beyond doubt that the driver had been using his phone.",
    ),
    (
        "The genome of the lungfish has been sequenced almost entirely, but gaps remain on two chromosomes.",
        "Two chromosomes of the lungfish have not been sequenced without gaps.",
        "The genome of the lungfish has been sequenced entirely.",
    ),
    (
        "Not all holders of the 2029 notes accepted the exchange offer; 71 percent by value had been "
        "tendered by the deadline.",
        "Some holders of the 2029 notes did not take up the exchange offer.",
        "The 2029 notes had all been tendered by the deadline of the exchange offer.",
    ),
    (
        "If approved by the city council in May, the tram line would be extended to the airport and "
        "could carry passengers there from 2031.",
        "The extension of the tram line to the airport depends on a council vote in May.",
        "The city council approved the extension of the tram line, which will carry passengers to the "
        "airport from 2031.",
    ),
    (
        "The storm was the second strongest to make landfall in the province since records began in "
        "1953, behind that of 1987.",
        "On record, only the storm of 1987 hit the province with greater strength.",
        "The storm was the strongest to make landfall in the province since records began in 1953.",
    ),
    (
        "Honeybee losses were highest in the counties where the pesticide was used most heavily.",
        "The counties with the heaviest use of the pesticide also lost the most honeybees.",
        "The pesticide was responsible for the honeybee losses in the counties where it was used most "
        "heavily.",
    ),
    (
        "Infection with the strain was prevented in macaques by two doses of the vaccine; results in "
        "humans are expected in spring.",
        "Two doses of the vaccine kept macaques from catching the strain.",
        "Infection with the strain is prevented in humans by two doses of the vaccine.",
    ),
    (
        "Residents of Lyon told the newspaper that rents in their neighbourhoods had doubled since 2010.",
        "According to people in Lyon, rents where they live are twice those of 2010.",
        "Rents in French cities have doubled since 2010, residents told the newspaper.",
    ),
    (
        "The guarantee covers water damage as long as the seals are intact.",
        "Water damage falls under the guarantee if nothing is wrong with the seals.",
        "The guarantee covers water damage regardless of the seals.",
    ),
    (
        "One reviewer complained that the hotel had overcharged her for parking. The hotel replied "
        "that the fee was posted at the entrance. We could not establish which of them was right.",
        "It remains unclear whether the hotel took too much for parking.",
        "The hotel overcharged a reviewer for parking.",
    ),
    (
        "The new battery lasts up to 18 hours under light use.",
        "Used lightly, the new battery can run for as long as 18 hours.",
        "The new battery lasts 18 hours or longer.",
    ),
    (
        "Relations between the two neighbours have cooled since the fishing dispute of 2008.",
        "The fishing dispute of 2008 was followed by a less warm relationship between the neighbours.",
        "The two neighbours have been enemies since the fishing dispute of 2008.",
    ),
    (
        "So far the trial has enrolled 600 of a planned 900 participants.",
        "The trial is still 300 participants short of its plan.",
        "The trial has enrolled its planned 900 participants.",
    ),
    (
        "Orders shipped from the Leipzig warehouse were delayed last week, but those from Antwerp "
        "arrived on time.",
        "Last week's delays affected orders from Leipzig, not those from Antwerp.",
        "Orders shipped from both warehouses were delayed last week.",
    ),
    (
        "The minister has proposed lowering the voting age to sixteen. Parliament has yet to debate "
        "the bill.",
        "The minister suggested that people should be able to vote at sixteen.",
        "The minister has lowered the voting age to sixteen.",
    ),
    (
        "Graphite is a popular anode material for lithium-ion cells. It is also among the cheapest, "
        "and it is easy to process.",
        "Graphite is a popular and easily processed material for anodes.",
        "Graphite is the cheapest anode material for lithium-ion cells.",
    ),
    (
        "Shortly after the chief executive resigned, two large clients took their business elsewhere.",
        "Two big clients left not long after the chief executive stepped down.",
        "Two large clients took their business elsewhere because the chief executive resigned.",
    ),
    (
        "Self-employed taxpayers may deduct the cost of a home office from their income.",
        "For people who work for themselves, a home office is deductible.",
        "Taxpayers in general may deduct the cost of a home office from their income.",
    ),
    (
        "During the drought of 1976, the river dried up along a stretch of eleven kilometres.",
        "Eleven kilometres of the river fell dry in the drought of 1976.",
        "During droughts, the river dries up along a stretch of eleven kilometres.",
    ),
    (
        "Assuming that demand holds up, the airline will resume its Chicago route in April.",
        "Whether the airline returns to Chicago in April hinges on demand.",
        "The airline will resume its Chicago route in April.",
    ),
    (
        "Police sources quoted by the newspaper suspect that the painting was smuggled out through "
        "Marseille.",
        "The newspaper's police sources consider Marseille a likely route for smuggling the painting out.",
        "The painting was smuggled out through Marseille.",
    ),
    (
        "Net losses for the quarter came to somewhere between 60 and 80 million dollars.",
        "The quarter's net loss was no larger than 80 million dollars.",
        "Net losses for the quarter came to 80 million dollars.",
    ),
    (
        "The telescope detected hints of water vapour in the planet's atmosphere. More observations "
        "are needed to be sure.",
        "Signs of water vapour were seen around the planet, but they are not certain.",
        "The telescope confirmed water vapour in the planet's atmosphere.",
    ),
    (
        "Work on the tunnel started in 2015, and the eastern tube opened to traffic four years later. "
        "The western tube is still being dug.",
        "Traffic was let into the eastern tube of the tunnel in 2019, but the western one is unfinished.",
        "Work on the tunnel started in 2015, and both tubes opened to traffic four years later.",
    ),
    (
        "In the north of the city, most households have had a fibre connection since the spring.",
        "Most households in the north of the city have a fibre connection.",
        "In the north of the city, no household has been without a fibre connection since the spring.",
    ),
    (
        "Small irregularities remain in the radial-velocity data after the known signal is removed. A "
        "second planet may therefore orbit the star.",
        "The data leave open the possibility of a second planet around the star.",
        "A second planet therefore orbits the star.",
    ),
    (
        "She was one of the first women to hold a chair of mathematics at a German university.",
        "She held a chair of mathematics in Germany at a time when hardly any woman had done so.",
        "No woman before her had held a chair of mathematics at a German university.",
    ),
    (
        "Towns that had a railway station before 1870 are, on average, more populous today than towns "
        "that did not.",
        "Today's population is on average larger in towns that had a station before 1870.",
        "Towns are more populous today as a result of having had a railway station before 1870.",
    ),
    (
        "In cultured human neurons, the antibody cleared most of the protein clumps. Whether it "
        "reaches the brain of a living person is unknown.",
        "It has not been established that the antibody gets into a living person's brain.",
        "The antibody cleared most of the protein clumps from the brain of living persons.",
    ),
    (
        "Hospital admissions for heatstroke in Seville peaked at the end of July.",
        "In Seville, heatstroke put the most people in hospital in late July.",
        "Hospital admissions for heatstroke peaked across Spain at the end of July.",
    ),
    (
        "Breastfeeding mothers can take the medicine when the infant is older than six weeks and was "
        "not born preterm.",
        "The medicine is suitable during breastfeeding if the baby is over six weeks old and was born "
        "at term.",
        "Breastfeeding mothers can take the medicine.",
    ),
    (
        "A paper by two economists at Leiden argues that the subsidy cost more jobs than it created; "
        "the ministry disputes their method.",
        "Two Leiden economists hold that more jobs were lost than gained through the subsidy.",
        "The subsidy cost more jobs than it created.",
    ),
    (
        "About one in five people infected with the parasite never develop symptoms.",
        "Some 20 percent of those who carry the parasite stay free of symptoms.",
        "Precisely one in five people infected with the parasite never develop symptoms.",
    ),
    (
        "Some scholars question whether the letter is genuine.",
        "Not all scholars are convinced of the letter's authenticity.",
        "Scholars have shown that the letter is a forgery.",
    ),
    (
        "Negotiators settled the chapters on fisheries and energy overnight, while agriculture remains open.",
        "No agreement has been reached on agriculture yet.",
        "Negotiators settled all the chapters overnight, agriculture included.",
    ),
    (
        "Nearly half of the surveyed nurses reported that they had skipped breaks during the previous "
        "month, and one in eight said they had done so daily.",
        "Just under half of the nurses who were asked said they had missed breaks in the month before.",
        "The surveyed nurses reported that they had skipped breaks daily during the previous month.",
    ),
)
