import { numberIn, textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'

export const waitList = command({
  name: 'wait list',
  operands: [],
  flags: {
    blueprint: { type: 'string', value: '<name>', help: 'Only runs of this blueprint, by its name or guid.' },
    kind: {
      type: 'string',
      value: '<kind>',
      help: 'Only runs that wait for this: time, approval, request or document.',
      completes: ['time', 'approval', 'request', 'document'],
    },
    ...urlFlag,
  },
  summary: 'Lists the runs that wait, the oldest first.',
  about: `Prints one line for each: its guid, what it waits for, waiting or resumed, since when, until when, and its title,
with tabs between them. At most 1,000 are listed.`,
  async run({ values: { blueprint, kind, url } }, terminal) {
    const { begunAt, MOST_LISTED, waitsOf } = await import('./stored-waits.ts')
    const { guidOf } = await import('../management.ts')
    const found = await withManagement(terminal, url, (management) =>
      waitsOf(management, { blueprint, kind }),
    )
    for (const wait of found) {
      const times = [`since ${minuteOf(begunAt(wait))}`, `until ${untilOf(numberIn(wait.until))}`]
      const line = [
        guidOf(wait),
        textIn(wait.kind),
        textIn(wait.state),
        ...times,
        oneLine(textIn(wait.title)),
      ]
      terminal.print(line.join('\t'))
    }
    if (found.length === 0) terminal.complain('No run waits.')
    if (found.length === MOST_LISTED) terminal.complain('There may be more: only the first 1,000 are listed.')
    return 0
  },
})

/** Titles come from flows: a line break would look like another run. */
function oneLine(title: string): string {
  return title.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}

/** Unix seconds; 0 = without an end. */
function untilOf(seconds: number): string {
  return seconds === 0 ? 'it is ended' : minuteOf(seconds)
}

function minuteOf(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16)}Z`
}
