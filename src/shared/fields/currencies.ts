/** Currencies by their codes of ISO 4217, as the platform knows them. */
export const currencies: readonly string[] = Intl.supportedValuesOf('currency')

const known: ReadonlySet<string> = new Set(currencies)
const places = new Map<string, number>()

export function isCurrency(code: string): boolean {
  return known.has(code)
}

/** Digits after the decimal point: 2 of most, 0 of JPY, 3 of KWD. 2 of what is no currency. */
export function placesOfCurrency(code: string): number {
  if (!isCurrency(code)) return 2
  const found = places.get(code)
  if (found !== undefined) return found
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
  }).resolvedOptions()
  places.set(code, maximumFractionDigits)
  return maximumFractionDigits
}

/** The currency of amounts that name none. */
export function currencyOf(locale: string): string {
  const region = /-([A-Z]{2})\b/.exec(locale)?.[1]
  const byRegion: Readonly<Record<string, string>> = { US: 'USD', GB: 'GBP', CH: 'CHF' }
  return (region === undefined ? undefined : byRegion[region]) ?? (locale === 'en' ? 'USD' : 'EUR')
}
