"""Closed word lists of English that the exact checks read. Tables only; regular expressions are with
their users. A trailing ``*`` in OPPOSITES means "begins with"."""

from __future__ import annotations

JOINERS = frozenset(
    {
        "of",
        "the",
        "and",
        "for",
        "de",
        "la",
        "von",
        "van",
        "der",
        "den",
        "del",
        "di",
        "da",
        "du",
        "le",
        "&",
        "al",
        "bin",
        "on",
        "in",
    }
)

TITLES = frozenset(
    "mr mrs ms dr prof professor sir dame lord lady president king queen prince princess pope saint st "
    "general captain senator governor minister judge the a an".split()
)

CORPORATE = frozenset(
    "inc corp corporation co company ltd limited llc plc ag sa nv se group holdings holding gmbh".split()
)

DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())

COMMON_CAPITALS = frozenset(
    {"i", "i'm", "i've", "i'd", "i'll", "ok", "okay", "am", "pm", "ad", "bc", "us$", "vs"}
)

PLAIN = frozenset(
    """a about above according actually additionally after afterwards again against ago all almost along already also
    although always among an and another any anyone anything are around as at away back based be because been before
    both but by can certainly citizens compared consequently could currently despite did do does due during each earlier
    either eventually even every everyone everything except fewer few finally first five following for formerly four
    from further furthermore generally given had has have he hence her here his hers how however if in include
    including indeed initially instead into is it its itself just largely last later least less like likewise
    many may maybe meanwhile men might more moreover most mostly much must my neither net never nevertheless next
    no nobody none nonetheless nor not nothing notably now numerous of off often old on once one only operating or
    originally other others otherwise our out over overall part people per perhaps please previously prior probably
    rather recently regarding respectively same second several she should show similarly since six so some
    someone sometimes somewhat soon specifically still such ten than that the their them then there thereby
    therefore these they third this those though three through throughout thus to today together too total two
    under unfortunately unless until up upon usually various was we well were what when whenever where whereas
    whether which while who whom whose why will with within without women would yes yet you your
    yeah hello hi hey thanks sorry sure oh wow great new revenue sales income growth cash capital""".split()
)

NATIONS = {
    "american": "america united states u.s us usa u.s.a", "british": "britain united kingdom uk u.k england", "english": "england",
    "french": "france", "german": "germany", "italian": "italy", "spanish": "spain", "portuguese": "portugal",
    "dutch": "netherlands holland", "belgian": "belgium", "swiss": "switzerland", "austrian": "austria",
    "swedish": "sweden", "norwegian": "norway", "danish": "denmark", "finnish": "finland", "icelandic": "iceland",
    "irish": "ireland", "scottish": "scotland", "welsh": "wales", "polish": "poland", "czech": "czechia",
    "hungarian": "hungary", "greek": "greece", "turkish": "turkey türkiye", "russian": "russia ussr soviet union",
    "soviet": "ussr soviet union", "ukrainian": "ukraine", "romanian": "romania", "bulgarian": "bulgaria", "serbian": "serbia",
    "croatian": "croatia", "chinese": "china", "japanese": "japan", "korean": "korea", "indian": "india",
    "pakistani": "pakistan", "bangladeshi": "bangladesh", "thai": "thailand", "vietnamese": "vietnam",
    "indonesian": "indonesia", "malaysian": "malaysia", "filipino": "philippines", "australian": "australia",
    "canadian": "canada", "mexican": "mexico", "brazilian": "brazil", "argentine": "argentina",
    "chilean": "chile", "colombian": "colombia", "peruvian": "peru", "cuban": "cuba", "egyptian": "egypt",
    "moroccan": "morocco", "nigerian": "nigeria", "kenyan": "kenya", "ethiopian": "ethiopia", "african": "africa",
    "israeli": "israel", "palestinian": "palestine", "iranian": "iran", "iraqi": "iraq", "saudi": "saudi arabia",
    "syrian": "syria", "lebanese": "lebanon", "jordanian": "jordan", "afghan": "afghanistan",
    "european": "europe", "asian": "asia", "roman": "rome", "parisian": "paris", "californian": "california",
    "texan": "texas", "hawaiian": "hawaii", "sicilian": "sicily", "bavarian": "bavaria", "ghanaian": "ghana",
}  # fmt: skip

ACRONYMS = {
    "u.s": "united states", "us": "united states", "usa": "united states", "u.k": "united kingdom", "uk": "united kingdom",
    "eu": "european union", "un": "united nations", "uae": "united arab emirates", "nyc": "new york city",
    "la": "los angeles", "dc": "district of columbia", "ussr": "soviet union", "sec": "securities and exchange commission",
    "fda": "food and drug administration", "nato": "north atlantic treaty organization", "who": "world health organization",
}  # fmt: skip

NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor cannot without nowhere fails failed fail lack lacks lacked lacking denied "
    "denies deny refused refuses unable hardly scarcely barely rarely seldom false incorrect".split()
)

HEDGES = frozenset(
    "may might could possibly perhaps probably likely potentially potential apparently allegedly alleged reportedly "
    "suggest suggests suggested seem seems seemed appear appears appeared expect expects expected plan plans planned "
    "intend intends intended aim aims hope hopes proposed proposes estimate estimates estimated believe believes believed "
    "think thinks thought rumored rumoured hypothesized unclear uncertain considering considers would should".split()
)

UNIVERSAL = frozenset(
    "all every each always entire entirely only everyone everything completely whole none never nobody no solely exclusively must".split()
)

WIDENERS = frozenset(
    "all always never everyone everybody everything completely entirely solely exclusively invariably universally "
    "unanimously".split()
)
"""Of a claim: words that say of all what a source without any such word may say of some. "Every", "whole",
"throughout" and "worldwide" are not here: in claims that hold they are as often loose speech."""

WIDE = (
    UNIVERSAL | WIDENERS | frozenset("any both total full fully no not forever throughout worldwide".split())
)
"""Of a source: words that may mean as much."""

REQUIRED = frozenset("require requires required mandatory".split())
"""Of a source: what is so without any word for when is so always."""

UNKNOWN = frozenset("may might possibly potentially".split())
"""Hedges before what is not known; "could", "probably" and "perhaps" are as often dropped by people who mean the same."""

UNDONE = frozenset(
    "plan plans planned intend intends expect expects expected aim aims hope hopes propose proposes".split()
)
"""Before "to": what has not happened."""

PARTIAL = frozenset(
    "some several many most few certain often sometimes usually generally partly partially mostly various majority part half".split()
)

OPPOSITES = (
    ("increas* ris* rose grew grow* gain* higher climb* up surg* jump* expand* improv* soar*", "decreas* fall* fell declin* drop* reduc* lower* down shrink* shrank plung* contract* worsen*"),
    ("more greater larger bigger", "less fewer smaller"), ("above over exceed*", "below under"),
    ("before prior earlier", "after following later"), ("first", "last"), ("win wins won winning", "lose loses lost losing"),
    ("profit* gain*", "loss losses"), ("buy buys bought acquir* purchas*", "sell sells sold divest*"),
    ("open* opened", "close* closed closing"), ("accept* approv* allow* permit* agree*", "reject* refus* prohibit* forbid* forbidden ban bans banned disagree*"),
    ("support*", "oppos*"), ("true", "false"), ("alive", "dead died"), ("north* ", "south*"), ("east eastern", "west western"),
    ("male man men boy boys he his him father son brother husband king", "female woman women girl girls she her mother daughter sister wife queen"),
    ("include* includ*", "exclud*"), ("maximum most highest largest biggest best", "minimum least lowest smallest worst"),
    ("start* began begin* begins launch*", "end ends ended stop* ceas* finish*"), ("same identical", "different"),
    ("positive", "negative"), ("success* succeed*", "fail* failure unsuccessful"), ("married", "divorced unmarried single"),
    ("innocent acquitted", "guilty convicted"), ("hot warm", "cold cool"), ("young* younger", "old older elderly"),
    ("rare rarely uncommon infrequent* seldom", "common commonly frequent* often usual*"),
    ("early", "late"), ("left", "right"), ("strong* strengthen*", "weak* weaken*"), ("effective", "ineffective"),
    ("safe", "unsafe dangerous"), ("legal", "illegal"), ("possible", "impossible"), ("able", "unable"), ("present", "absent"),
    ("import*", "export*"), ("public", "private"), ("domestic", "foreign international"), ("credit", "debit"),
    ("asset assets", "liability liabilities"), ("current", "noncurrent non-current former"), ("short", "long"),
)  # fmt: skip

STOP = frozenset(
    "a an the of in on at to for and or but by with from as is are was were be been being it its this that these those "
    "he she they his her their has have had do does did will would can could may might which who whom than then also".split()
)

SUBJECTS = frozenset("the a an this these that those it he she we you they our your their".split())
"""What opens a clause as often as a phrase."""

PLURALS = frozenset("we you they people children men women".split())
"""Plurals without an "s", before a verb without one."""

RELATIONS = frozenset("from to by with for".split())
"""Words of STOP that tell one row of a table from another: "due from", "due to"."""

PERIODS = frozenset(
    "first second third fourth half quarter quarterly month monthly week weekly day daily".split()
)
"""Parts of a year, besides the months."""

ASIDES = frozenset(
    "note notes loss losses deficit expense unaudited in of thousands millions billions mn bn m k".split()
) | {str(number) for number in range(100)}
"""What brackets in a label hold, besides units, without naming another row: a note, a scale, the word for a value
below zero. A "gain" or an "income" there turns the sign round, and is none."""

QUALIFIERS = frozenset(
    "budget budgeted plan planned forecast forecasted projected projection projections target targeted guidance "
    "outlook estimate estimates estimated expectation expectations anticipated proposed proposal draft preliminary "
    "provisional forma hypothetical illustrative illustration scenario simulated simulation restated restatement "
    "revised revision corrected correction adjusted superseded withdrawn published originally previously initially "
    "change variance variances increase decrease growth difference differences share proportion proportions "
    "percentage percentages months month weeks week".split()
)
"""Over a table: words that make of its values something else than what was, in full, in the year."""

STATEMENT_KINDS = frozenset(
    "operating other total and expenses assets liabilities revenue revenues net sales equity current noncurrent non "
    "stockholders shareholders cash flows flow from activities investing financing adjustments to reconcile income loss "
    "provided by used in supplemental information".split()
)
"""Words of section rows that only sort the rows of a statement ("Operating expenses:", "Current assets"). Not
"costs": a product stands under its revenue and under its cost."""
