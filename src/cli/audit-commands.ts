import { createReadStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isDayText, readIsoDate } from '../shared/dates/dates.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../storage/document-fields.ts'
import { command, type Terminal } from './command.ts'
import { type Management, Refused } from './management.ts'
import { urlFlag, withManagement } from './open-management.ts'
import { UsageError } from './read-words.ts'

const EXPORT = '/_system/auditlogs/export'
const DAY = 86_400_000
/** Differences from an export that are printed: where a chain was made again, all of its entries differ. */
const MOST_PRINTED = 100

export const auditVerify = command({
  name: 'audit verify',
  operands: [],
  flags: {
    against: {
      type: 'string',
      value: '<file>',
      help: `An export of quoin audit export, which lay elsewhere: names also each record of it that was
cut off, changed or removed since, with its entry too.`,
      completes: 'file',
    },
    ...urlFlag,
  },
  summary: 'Checks that the audit log is as it was written.',
  about: `Each record has an entry in a chain of hashes, and the end of each day is signed with a key made from QUOIN_SECRETS_KEY.
Prints each record that was changed, removed or added since, and each place where the
chain is broken or a signature does not hold. Exit 1 if there is one.`,
  async run({ values: { url, against } }, terminal) {
    if (against !== undefined && !existsSync(against)) throw new UsageError(`There is no file ${against}.`)
    return withManagement(terminal, url, async (management) => {
      const { checked, signed, unsigned, ...check } = await checkAll(management, terminal)
      terminal.print(
        `${checked} records checked, ${signed} days signed, ${unsigned} days without a signature.`,
      )
      const faults = check.faults + (against === undefined ? 0 : await compare(management, against, terminal))
      if (faults > 0) terminal.complain(`The audit log is not as it was written: ${faults} faults.`)
      return faults > 0 ? 1 : 0
    })
  },
})

async function checkAll(management: Management, terminal: Terminal) {
  let [checked, signed, unsigned, faults] = [0, 0, 0, 0]
  let from: JsonValue | undefined
  do {
    const body: JsonObject = from === undefined ? {} : { from }
    const reply = await management.call('POST', '/_system/auditlogs/check', body)
    if (!isJsonObject(reply)) break
    for (const { fault, record, place, message } of objectsIn(reply.faults)) {
      faults += 1
      const what = textIn(record) || `entry ${String(place)}`
      terminal.print(`${textIn(fault)}\t${what}\t${textIn(message)}`)
    }
    checked += numberIn(reply.checked)
    signed += numberIn(reply.signed)
    unsigned += numberIn(reply.unsigned)
    from = reply.next ?? undefined
  } while (from !== undefined)
  return { checked, signed, unsigned, faults }
}

export const auditExport = command({
  name: 'audit export',
  operands: [],
  flags: {
    from: { type: 'string', value: '<day>', help: 'First day (UTC), such as 2026-11-01.' },
    to: { type: 'string', value: '<day>', help: 'Last day (UTC).' },
    out: {
      type: 'string',
      value: '<file>',
      help: 'Write it into this new file, which only its owner may read.',
      completes: 'file',
    },
    ...urlFlag,
  },
  summary: 'Writes the audit log with its chain as NDJSON.',
  about: `One line for each record, in the order of the chain, then the signed ends of days. Keep it elsewhere:
quoin audit verify --against <file> finds what was cut off, changed or removed since. The export
has a record in the audit log itself.`,
  async run({ values: { from, to, out, url } }, terminal) {
    const first = from === undefined ? 0 : dayNamed('--from', from)
    const end = to === undefined ? Number.POSITIVE_INFINITY : dayNamed('--to', to) + DAY
    if (first >= end) throw new UsageError('--to must not be before --from.')
    // It would be the proof of a former time.
    if (out !== undefined && existsSync(out))
      throw new UsageError(`There is a file ${out} already, and exports replace none.`)
    return withManagement(terminal, url, async (management) => {
      let records = 0
      const count = () => {
        records += 1
      }
      const lines = linesWithin(await management.download(EXPORT), { first, end }, count)
      if (out === undefined)
        for await (const line of lines) terminal.print(line.subarray(0, -1).toString('utf8'))
      else {
        await writeWhole(out, lines)
        terminal.print(`${records} records exported.`)
      }
      return 0
    })
  },
})

/** Its begin, in milliseconds since 1970. */
function dayNamed(flag: string, text: string): number {
  const at = isDayText(text) ? readIsoDate(text) : undefined
  if (at === undefined) throw new UsageError(`${flag} must be a day such as 2026-11-01; got ${text}.`)
  return at
}

/** As they came, with their ends: entries of that time, and the checkpoints among them. */
async function* linesWithin(
  pieces: AsyncIterable<Buffer>,
  { first, end }: { readonly first: number; readonly end: number },
  count: () => void,
): AsyncGenerator<Buffer> {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0]
  for await (const { bytes, value } of exportLines(pieces, 'The reply')) {
    const { at, place, checkpoint } = value
    if (isJsonObject(checkpoint)) {
      const signed = numberIn(checkpoint.place)
      if (signed < lowest || signed > highest) continue
    } else {
      if (numberIn(at) < first || numberIn(at) >= end) continue
      lowest = Math.min(lowest, numberIn(place))
      highest = Math.max(highest, numberIn(place))
      count()
    }
    yield Buffer.concat([bytes, Buffer.from('\n')])
  }
}

/** Lines of an export, one at a time. `what` is named where one is none. Throws Refused. */
async function* exportLines(pieces: AsyncIterable<Buffer>, what: string) {
  const { linesOf } = await import('../records/documents/ndjson-lines.ts')
  const refuse = (line: number) =>
    new Refused(`${what} is no export of an audit log: its line ${line} is not as exports write it.`, 0)
  let last = 0
  try {
    for await (const { bytes, number } of linesOf(pieces)) {
      last = number
      const value = parsed(bytes)
      if (!isJsonObject(value) || (!isJsonObject(value.checkpoint) && numberIn(value.place) < 1))
        throw refuse(number)
      yield { bytes, value }
    }
  } catch (error) {
    // One that is longer than any record.
    throw error instanceof QuoinError ? refuse(last + 1) : error
  }
}

function parsed(bytes: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Whole or not at all: an export that ends too early would prove less than it seems to. */
async function writeWhole(path: string, lines: AsyncIterable<Buffer>): Promise<void> {
  const part = `${path}.part`
  const handle = await open(part, 'wx', 0o600).catch((error: unknown) => {
    throw existsSync(part)
      ? new UsageError(`There is a file ${part}: another export writes it, or one was broken off. Delete it.`)
      : error
  })
  try {
    await pipeline(Readable.from(lines), handle.createWriteStream({ flush: true }))
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/**
 * Holds each entry of an export against the log. Whether a record fits its entry is checked elsewhere, so entries are enough here:
 * the log may have been cut off at its end, or its chain made again. Prints what differs; how many there are.
 */
async function compare(management: Management, file: string, terminal: Terminal): Promise<number> {
  const { chained, entryOf, hashOf } = await import('../records/audit-chain-proof.ts')
  const present = presentEntries(await management.download(EXPORT))
  let [compared, faults] = [0, 0]
  const add = (fault: string, record: string, place: number, message: string) => {
    faults += 1
    if (faults <= MOST_PRINTED) terminal.print(`${fault}\t${record || `entry ${place}`}\t${message}`)
  }
  let stored = await present.next()
  let before: ReturnType<typeof entryOf> | undefined
  for await (const { value } of exportLines(createReadStream(file), file)) {
    if (isJsonObject(value.checkpoint)) continue
    const entry = entryOf(value)
    const { place, record, hash, chain } = entry
    compared += 1
    const previous = place === 1 ? { place: 0, chain: '' } : before
    const follows = !previous || (place === previous.place + 1 && chain === chained(previous.chain, entry))
    if (!follows || (isJsonObject(value.audit) && hashOf(value.audit) !== hash))
      add('export', record, place, `The export does not fit its own chain at the place ${place}.`)
    before = entry
    while (!stored.done && numberIn(stored.value.place) < place) stored = await present.next()
    if (stored.done) {
      add('removed', record, place, `The log ends before the place ${place} of the export.`)
      continue
    }
    const now = entryOf(stored.value)
    if (now.place > place) add('removed', record, place, 'The record is gone with its entry.')
    else if (now.record !== record)
      add('removed', record, place, `Another record is at its place ${place} of the chain.`)
    else if (now.hash !== hash) add('changed', record, place, 'The record is not what was exported.')
    else if (now.chain !== chain)
      add('broken', record, place, 'The chain before it is not what was exported: it was made again.')
  }
  // To its end: the server would write of a connection that was broken off.
  while (!stored.done) stored = await present.next()
  if (compared === 0) throw new Refused(`${file} has no record of an audit log.`, 0)
  if (faults > MOST_PRINTED) terminal.print(`… and ${faults - MOST_PRINTED} more that differ.`)
  terminal.print(`${compared} records compared with ${file}.`)
  return faults
}

async function* presentEntries(pieces: AsyncIterable<Buffer>): AsyncGenerator<JsonObject> {
  for await (const { value } of exportLines(pieces, 'The reply'))
    if (!isJsonObject(value.checkpoint)) yield value
}
