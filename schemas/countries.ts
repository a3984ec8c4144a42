/** The countries of ISO 3166-1, by their two letters; and XK, which the standard leaves to its users, and everybody uses for Kosovo. */
export const countries: ReadonlySet<string> = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK
  CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS
  GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV
  LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM
  PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR
  TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/),
)

/** The same as a regular expression: the first letters, and for each those that may follow. */
export const countriesPattern = `^(${[...new Set([...countries].map((code) => code.charAt(0)))]
  .map((first) => {
    const codes = [...countries].filter((code) => code.startsWith(first))
    return `${first}[${codes.map((code) => code.charAt(1)).join('')}]`
  })
  .join('|')})$`

/** Codes that are written for a country, and are none of it. */
const meant: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR', SU: 'RU', YU: 'RS', CS: 'RS', ZR: 'CD', TP: 'TL' }

/** What is wrong with two letters that are no country. */
export const noCountry = (code: string): string => {
  const other = meant[code]
  return `must be a country of ISO 3166: ${code} is none${other ? `; did you mean ${other}?` : ', like GB'}`
}
