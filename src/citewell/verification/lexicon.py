"""Closed English word lists used by the exact checks. Tables only; regular expressions are kept with
their users."""

from __future__ import annotations

JOINERS = frozenset("of the and for de la von van der den del di da du le & al bin on in".split())

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
"""In a claim: universal words, where a source without one may mean only some. "Every", "whole", "throughout"
and "worldwide" are excluded: in true claims they are often used loosely."""

WIDE = (
    UNIVERSAL | WIDENERS | frozenset("any both total full fully no not forever throughout worldwide".split())
)
"""In a source: words that may be as universal."""

UNKNOWN = frozenset("may might possibly potentially".split())
"""Hedges for the unknown; "could", "probably" and "perhaps" are often dropped with no change of meaning."""

UNDONE = frozenset(
    "plan plans planned intend intends expect expects expected aim aims hope hopes propose proposes".split()
)
"""Before "to": mark something that has not happened."""

PARTIAL = frozenset(
    "some several many most few certain often sometimes usually generally partly partially mostly various majority part half".split()
)

STOP = frozenset(
    "a an the of in on at to for and or but by with from as is are was were be been being it its this that these those "
    "he she they his her their has have had do does did will would can could may might which who whom than then also".split()
)

RELATIONS = frozenset("from to by with for".split())
"""Words of STOP that distinguish table rows: "due from", "due to"."""

ASIDES = frozenset(
    "note notes loss losses deficit expense unaudited in of thousands millions billions mn bn m k".split()
)

"""Words in a label's brackets, besides units, that do not name another row: a note, a scale, a word for a
negative value. "Gain" and "income" are excluded: there they reverse the sign."""
