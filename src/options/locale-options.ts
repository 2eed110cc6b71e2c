import { accepted, type OptionGroup, type ReadGroup, type ReadOne } from './option-kinds.ts'

/** What expressions take where they are told neither time zone nor locale. */
export const localeOptions = {
  timeZone: {
    variable: 'QUOIN_TIME_ZONE',
    fallback: 'UTC',
    help: 'Time zone of the times that forms, tables, mails and CSV files show and take, and of functions in expressions that get none. A user with a time zone other than UTC has that one on pages. All nodes need the same.',
    accepts: 'a time zone such as Europe/Berlin',
    read: (given: string) => accepted(given, () => new Intl.DateTimeFormat('en', { timeZone: given })),
  },
  locale: {
    variable: 'QUOIN_LOCALE',
    fallback: 'en-US',
    help: 'Locale of functions in expressions that get none. All nodes need the same.',
    accepts: 'a language tag such as en-US',
    read: (given: string) => accepted(given, () => new Intl.Locale(given)),
  },
} as const satisfies OptionGroup

export function readLocaleOptions(read: ReadOne): ReadGroup<typeof localeOptions> {
  return {
    timeZone: read(localeOptions.timeZone),
    locale: read(localeOptions.locale),
  }
}
