import { boundedMap } from '../../shared/bounded-map.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { checkLocale } from '../language/literals/check-locale.ts'
import { spendOnFormat } from './bounded.ts'

/** A format costs 20 to 50 µs to make. Some settings of some locales are in use at one time. */
const formats = boundedMap<string, Intl.NumberFormat>(200)

const MOST_DIGITS = 20

/** `digits`: exactly so many after the point; undefined: as the style has it. */
export function numberFormat(
  context: FunctionContext,
  locale: string,
  digits: number | undefined,
  style: { readonly style?: 'percent' | 'currency'; readonly currency?: string } = {},
): Intl.NumberFormat {
  const key = `${locale} ${digits} ${style.style} ${style.currency}`
  const known = formats.get(key)
  if (known) return known
  if (digits !== undefined && !(digits >= 0 && digits <= MOST_DIGITS))
    throw new ArgumentError('digits', `must be from 0 to ${MOST_DIGITS}`)
  checkLocale(locale)
  spendOnFormat(context)
  const exactly = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const format = new Intl.NumberFormat(locale, { ...style, ...exactly })
  formats.set(key, format)
  return format
}
