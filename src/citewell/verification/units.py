"""Words of measure: scales, currencies, units of weight, length, time and the like, number words.

Tables only. In: a lower-case word. Out: its factor to the base of its dimension. Scales are the
short scale (a billion is 10**9). Knows nothing about sentences.
"""

from __future__ import annotations

from decimal import Decimal

SCALES: dict[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "thousands": 10**3, "million": 10**6, "millions": 10**6,
    "billion": 10**9, "billions": 10**9, "trillion": 10**12, "trillions": 10**12,
    "mn": 10**6, "mln": 10**6, "mio": 10**6, "bn": 10**9, "bln": 10**9, "tn": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12,
}  # fmt: skip

# Letters count only when they touch the number; "m" and "mm" are metres unless money stands before.
LETTER_SCALES: dict[str, int] = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
MONEY_SCALES: dict[str, int] = {"m": 10**6, "mm": 10**6, "MM": 10**6, "b": 10**9, "t": 10**12}

CURRENCIES: dict[str, str] = {
    "$": "USD", "us$": "USD", "u.s.$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP",
    "pounds sterling": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY",
    "₹": "INR", "inr": "INR", "rupees": "INR", "rupee": "INR", "chf": "CHF", "francs": "CHF",
    "c$": "CAD", "cad": "CAD", "a$": "AUD", "aud": "AUD", "hk$": "HKD", "hkd": "HKD", "nz$": "NZD",
    "s$": "SGD", "sgd": "SGD", "₩": "KRW", "krw": "KRW", "₽": "RUB", "rubles": "RUB",
    "cent": "USD", "cents": "USD", "brl": "BRL", "r$": "BRL", "mxn": "MXN", "sek": "SEK", "nok": "NOK",
}  # fmt: skip
CENTS = {"cent", "cents"}

_DIMENSIONS: dict[str, dict[str, str]] = {
    "mass": {
        "0.000001": "µg μg ug mcg microgram micrograms", "0.001": "mg milligram milligrams",
        "1": "g gram grams gm", "1000": "kg kilo kilos kilogram kilograms", "453.59237": "lb lbs",
        "28.349523125": "oz ounce ounces", "1000000": "tonne tonnes",
    },
    "length": {
        "0.000000001": "nm nanometre nanometres nanometer nanometers",
        "0.000001": "µm μm micron microns", "0.001": "mm millimetre millimetres millimeter millimeters",
        "0.01": "cm centimetre centimetres centimeter centimeters", "1": "m metre metres meter meters",
        "1000": "km kilometre kilometres kilometer kilometers", "0.0254": "inch inches",
        "0.3048": "ft foot feet", "0.9144": "yd yard yards", "1609.344": "mi mile miles",
    },
    "seconds": {
        "0.001": "ms millisecond milliseconds", "1": "s sec secs second seconds",
        "60": "min mins minute minutes", "3600": "h hr hrs hour hours", "86400": "day days",
        "604800": "week weeks", "1209600": "fortnight fortnights",
    },
    "months": {"1": "month months", "12": "year years yr yrs", "120": "decade decades",
               "1200": "century centuries"},
    "volume": {"0.001": "ml mL millilitre millilitres milliliter milliliters",
               "1": "l L litre litres liter liters", "3.785411784": "gallon gallons", "158.987": "barrel barrels bbl"},
    "area": {"1": "m2 m²", "1000000": "km2 km²", "10000": "ha hectare hectares",
             "4046.8564224": "acre acres"},
    "temperature C": {"1": "°C ℃ celsius"}, "temperature F": {"1": "°F fahrenheit"},
    "power": {"1": "W watt watts", "1000": "kW kilowatt kilowatts", "1000000": "MW megawatt megawatts",
              "1000000000": "GW gigawatt gigawatts"},
    "energy": {"1": "kWh", "1000": "MWh", "1000000": "GWh", "1000000000": "TWh"},
    "frequency": {"1": "Hz", "1000": "kHz", "1000000": "MHz", "1000000000": "GHz"},
    "data": {"1": "byte bytes", "1000": "kB KB", "1000000": "MB", "1000000000": "GB", "1000000000000": "TB"},
    "calories": {"1": "kcal calories", "0.001": "cal"},
    "mass concentration": {"1": "mg/dl mg/dL"}, "molar concentration": {"1": "mmol/l mmol/L"},
    "speed": {"1": "km/h kph", "1.609344": "mph"},
}  # fmt: skip

UNITS: dict[str, tuple[str, Decimal]] = {
    word: (dimension, Decimal(factor))
    for dimension, factors in _DIMENSIONS.items()
    for factor, words in factors.items()
    for word in words.split()
}

# A symbol of one or two letters is a unit only right behind a number written in digits.
SHORT_UNITS = frozenset(word for word in UNITS if len(word) <= 2 or not word.islower())

ONES = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100, "thousandth": 1000}
DENOMINATORS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4,
    "fourths": 4, "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7,
    "eighth": 8, "eighths": 8, "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10,
}  # fmt: skip
GLYPHS = {
    "½": "1/2",
    "⅓": "1/3",
    "⅔": "2/3",
    "¼": "1/4",
    "¾": "3/4",
    "⅕": "1/5",
    "⅛": "1/8",
    "⅜": "3/8",
    "⅝": "5/8",
    "⅞": "7/8",
}
