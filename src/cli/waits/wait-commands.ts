import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { numberIn, objectsIn, textIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { findRecord, guidOf, type Management, recordsOf } from '../management.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'

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

export const waitShow = command({
  name: 'wait show',
  operands: [{ name: '<wait>' }],
  flags: urlFlag,
  summary: 'Prints one run that waits as JSON.',
  about: 'The wait is named by its guid. Tokens and the values that the run remembers are not shown.',
  async run({ positionals: [guid = ''], values: { url } }, terminal) {
    const found = await withManagement(terminal, url, (management) => waitNamed(management, guid))
    terminal.print(JSON.stringify(found, undefined, 2))
    return 0
  },
})

export const waitContinue = command({
  name: 'wait continue',
  operands: [{ name: '<wait>' }],
  flags: {
    way: {
      type: 'string',
      value: '<way>',
      help: `On which way of its block: flow (of a time, may be left out); approved or rejected; received;
found or gone; or timeout.`,
      completes: ['flow', 'approved', 'rejected', 'received', 'found', 'gone', 'timeout'],
    },
    comment: { type: 'string', value: '<text>', help: 'Of an approval: at most 2,000 characters.' },
    body: { type: 'string', value: '<json>', help: 'With --way received: what counts as sent.' },
    current: {
      type: 'boolean',
      help: 'Of a run whose job has failed: on the deployed version, if the blocks fit.',
    },
    ...urlFlag,
  },
  summary: 'Ends a wait: its run continues as a job.',
  about: `Without a running server the job waits until one is started. A run whose job has failed continues again, with what
its wait was ended with: leave --way out.`,
  async run({ positionals: [guid = ''], values: { way, comment, body, current, url } }, terminal) {
    const sent = body === undefined ? undefined : jsonOf(body)
    await withManagement(terminal, url, (management) =>
      continueWait(management, guid, { way, comment, body: sent, current: current === true }),
    )
    return 0
  },
})

function jsonOf(text: string): JsonValue {
  const read = readJson(text)
  if ('value' in read) return read.value
  throw new UsageError(`--body ${read.problem}: ${text}.`)
}

export const waitMove = command({
  name: 'wait move',
  operands: [{ name: '<blueprint>' }],
  flags: {
    again: { type: 'boolean', help: 'Runs whose job has failed continue again.' },
    'dry-run': { type: 'boolean', help: 'Only says what would be done.' },
    ...urlFlag,
  },
  summary: 'Moves the runs of a blueprint that wait to its deployed version.',
  about: `A run that waits continues on the version that it began with. It is moved where the deployed version has its block and
the run has stored what the blocks behind the wait read. Prints how many, and a line for each run that stays: its guid,
a tab, and the reason.`,
  async run({ positionals: [blueprint = ''], values: { again, 'dry-run': dryRun, url } }, terminal) {
    const { moved, continued, unmoved } = await withManagement(terminal, url, (management) =>
      moveWaits(management, blueprint, { again: again === true, dry_run: dryRun === true }),
    )
    terminal.print(`${moved} moved, ${continued} continue again, ${unmoved.length} stay.`)
    for (const line of unmoved) terminal.print(line)
    return 0
  },
})

export const waitCancel = command({
  name: 'wait cancel',
  operands: [{ name: '<wait>' }],
  flags: urlFlag,
  summary: 'Cancels a wait: its run never continues.',
  about: 'What the run wrote before stays. This cannot be undone.',
  async run({ positionals: [guid = ''], values: { url } }, terminal) {
    await withManagement(terminal, url, (management) => cancelWait(management, guid))
    return 0
  },
})

const path = '/_system/waits'

/** Waits that one call lists. */
const MOST_LISTED = 1_000

/** Of which waits: without a filter, of all. */
interface WaitsRequest {
  /** Name or guid. */
  readonly blueprint: string | undefined
  readonly kind: string | undefined
}

/** The oldest first. */
async function waitsOf(
  management: Management,
  { blueprint, kind }: WaitsRequest,
): Promise<readonly JsonObject[]> {
  const found = blueprint === undefined ? undefined : await findRecord(management, 'blueprints', blueprint)
  const filters = { ...(found && { blueprint: guidOf(found) }), ...(kind !== undefined && { kind }) }
  const body = { filters, limit: MOST_LISTED, sort: [{ '_meta.cms': 'asc' }] }
  return recordsOf(await management.call('POST', `${path}/search`, body))
}

/** Throws Refused when it has ended. */
async function waitNamed(management: Management, guid: string): Promise<JsonValue> {
  return management.call('GET', pathOf(guid))
}

async function cancelWait(management: Management, guid: string): Promise<void> {
  await management.call('DELETE', pathOf(guid))
}

interface Continued {
  readonly way: string | undefined
  readonly comment: string | undefined
  /** What counts as sent. */
  readonly body: JsonValue | undefined
  /** On the deployed version. */
  readonly current: boolean
}

async function continueWait(
  management: Management,
  guid: string,
  { way, comment, body, current }: Continued,
): Promise<void> {
  await management.call('POST', `${pathOf(guid)}/continue`, {
    ...(way !== undefined && { way }),
    ...(comment !== undefined && { comment }),
    ...(body !== undefined && { body }),
    ...(current && { version: 'current' }),
  })
}

/** Runs of a blueprint that one call after the other has moved, and those that stay: a line of each. */
async function moveWaits(
  management: Management,
  blueprint: string,
  requested: { readonly again: boolean; readonly dry_run: boolean },
): Promise<{ readonly moved: number; readonly continued: number; readonly unmoved: readonly string[] }> {
  const named = { blueprint: guidOf(await findRecord(management, 'blueprints', blueprint)), ...requested }
  let [moved, continued] = [0, 0]
  const unmoved: string[] = []
  let after: JsonValue = null
  do {
    const body: JsonObject = after === null ? named : { ...named, after }
    const reply = await management.call('POST', `${path}/move`, body)
    if (!isJsonObject(reply)) break
    moved += numberIn(reply.moved)
    continued += numberIn(reply.continued)
    for (const one of objectsIn(reply.kept)) unmoved.push(`${textIn(one.wait)}\t${textIn(one.reason)}`)
    after = reply.next ?? null
  } while (after !== null)
  return { moved, continued, unmoved }
}

/** Unix seconds. */
function begunAt({ _meta: meta }: JsonObject): number {
  return isJsonObject(meta) && typeof meta.created === 'number' ? meta.created : 0
}

function pathOf(guid: string): string {
  return `${path}/${encodeURIComponent(guid)}`
}
