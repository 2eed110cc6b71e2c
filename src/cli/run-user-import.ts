/**
 * Users of another system as users here: checked as a whole before the first one is made, then made one after the other, since each
 * takes the turn of all changes of users. A user that is there stays as it is, so a second call goes on where the first one ended.
 * What is printed has no password and no hash, also where a file has them in the wrong column.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { storedHashProblem } from '../access/password-hash.ts'
import { userInput } from '../access/user-input.ts'
import { folded } from '../access/visible-text.ts'
import { linesOf } from '../records/documents/ndjson-lines.ts'
import { allCells, inWords } from '../records/documents/table-import-rows.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { readJson } from '../shared/numbers/exact-json.ts'
import { textIn } from '../storage/document-fields.ts'
import type { Terminal } from './command.ts'
import { jsonItems } from './import-from/collections/json-items.ts'
import { guidOf, type Management, Refused, recordsOf } from './management.ts'
import { withManagement } from './open-management.ts'

const columns = ['username', 'email', 'firstname', 'lastname', 'groups', 'scopes', 'password_hash']

/** Of one call. A file with more is cut in parts. */
const MOST_USERS = 100_000
const MOST_BYTES = 64 * 1024 * 1024
const MOST_PRINTED = 1_000
/** Names that one search asks for. */
const SEARCHED = 100
const MOST_GROUPS = 1_000
const LONGEST_PRINTED = 300

export interface ImportedUser {
  /** For people: `line 4`. */
  readonly place: string
  /** By the names of the columns; a text says what is wrong with the row. */
  readonly values: JsonObject | string
}

interface UserImport {
  readonly file: string
  readonly dryRun: boolean
  readonly skip: boolean
  readonly url: string | undefined
}

/** What `quoin user import` does. Gives its exit code. */
export async function runUserImport(
  { file, dryRun, skip, url }: UserImport,
  terminal: Terminal,
): Promise<number> {
  const found = await stat(file).catch(() => undefined)
  if (!found?.isFile()) throw new Error(`There is no file ${file}.`)
  if (found.size > MOST_BYTES) throw new Error(`${file} is longer than 64 MiB. Import it in parts.`)
  return withManagement(terminal, url, async (management) => {
    const planned = await planUsers(usersIn(file), management, terminal)
    if (planned.refused > 0 && !skip) {
      if (!dryRun)
        terminal.complain('No user was made. Mend the file, or leave these out with --skip-invalid.')
      return 1
    }
    if (!dryRun) return makeUsers(planned, management, terminal)
    terminal.print(`${planLine(planned)} Nothing was changed.`)
    return 0
  })
}

export interface PlannedUsers {
  readonly users: readonly { readonly place: string; readonly body: JsonObject }[]
  /** There are users of these names already. */
  readonly known: number
  readonly refused: number
}

export function planLine({ users, known }: PlannedUsers): string {
  return `${people(users.length)} would be made. ${present(known)}`
}

/** Prints what is wrong. Changes nothing. */
export async function planUsers(
  rows: AsyncIterable<ImportedUser> | Iterable<ImportedUser>,
  management: Management,
  { complain }: Pick<Terminal, 'complain'>,
): Promise<PlannedUsers> {
  let refused = 0
  const refuse = (place: string, problem: string) => {
    refused += 1
    if (refused <= MOST_PRINTED) complain(`${place}: ${withoutHashes(problem)}`)
  }
  const checked: { place: string; body: JsonObject }[] = []
  const places = new Map<string, string>()
  let groups: ReadonlyMap<string, string> | undefined
  for await (const { place, values } of rows) {
    if (checked.length + refused >= MOST_USERS)
      throw new Error(`More than ${MOST_USERS.toLocaleString('en-US')} users: import them in parts.`)
    if (typeof values === 'string') {
      refuse(place, values)
      continue
    }
    if (listOf(values.groups).length > 0) groups ??= await groupsByName(management)
    const row = userOf(values, groups ?? new Map())
    const problem = typeof row === 'string' ? row : takenIn(places, place, row)
    if (problem !== undefined) refuse(place, problem)
    else if (typeof row !== 'string') checked.push({ place, body: row })
  }
  const users: typeof checked = []
  let known = 0
  for (let at = 0; at < checked.length; at += SEARCHED) {
    const part = checked.slice(at, at + SEARCHED)
    const names = await takenAmong(management, 'username', part)
    const addresses = await takenAmong(management, 'email', part)
    for (const one of part)
      if (names.has(folded(textIn(one.body.username)))) known += 1
      else if (addresses.has(folded(textIn(one.body.email))))
        refuse(one.place, 'email is the address of another user.')
      else users.push(one)
  }
  if (refused > MOST_PRINTED) complain(`${people(refused)} in all, of which the first are listed.`)
  return { users, known, refused }
}

/** The exit code. A user who cannot be made is named, and the others are made; what would refuse all of them ends it. */
export async function makeUsers(
  { users, known, refused }: PlannedUsers,
  management: Management,
  terminal: Terminal,
): Promise<number> {
  let made = 0
  let met = known
  let failed = 0
  for (const { place, body } of users) {
    try {
      await management.call('POST', '/users', { ...body, ...passwordOf(body, terminal) })
      made += 1
    } catch (error) {
      const isOfRow = error instanceof Refused && (error.status === 409 || error.status === 400)
      if (!isOfRow) {
        terminal.complain(
          `${people(made)} made; stopped at ${place}. The same command goes on there when it is called again.`,
        )
        throw error
      }
      // Made by another call meanwhile.
      const isKnown = (await takenAmong(management, 'username', [{ body }])).size > 0
      if (isKnown) met += 1
      else {
        failed += 1
        terminal.complain(`${place}: ${withoutHashes(error.message)}`)
      }
    }
    terminal.redraw?.(`${made} of ${users.length} users made`)
  }
  terminal.redraw?.('')
  const left = refused + failed
  terminal.print(`${people(made)} made. ${present(met)}${left > 0 ? ` ${left} left out.` : ''}`)
  return failed > 0 ? 1 : 0
}

function people(count: number): string {
  return `${count.toLocaleString('en-US')} user${count === 1 ? '' : 's'}`
}

function present(known: number): string {
  return `${known.toLocaleString('en-US')} ${known === 1 ? 'is' : 'are'} there already and ${known === 1 ? 'stays' : 'stay'} unchanged.`
}

/** Who brings no hash gets a random password that is shown nowhere, until a link to a new one is asked for. */
function passwordOf({ password_hash }: JsonObject, { random }: Pick<Terminal, 'random'>): JsonObject {
  if (password_hash !== undefined) return {}
  const bytes = new Uint8Array(24)
  random(bytes)
  return { password: Buffer.from(bytes).toString('base64url') }
}

/** The body of the request that makes the user, or what is wrong. */
function userOf(
  { groups, scopes, password_hash, ...texts }: JsonObject,
  known: ReadonlyMap<string, string>,
): JsonObject | string {
  const problems: string[] = []
  const other = Object.keys(texts).find((name) => !columns.includes(name))
  if (other !== undefined) return unknownColumn(other)
  for (const [name, value] of Object.entries(texts))
    if (typeof value === 'string' && storedHashProblem(value) === undefined)
      problems.push(`${name} is the hash of a password: the columns are in another order than their names.`)
  const fields = Object.fromEntries(
    Object.entries(texts).filter(([, value]) => value !== null && value !== ''),
  )
  const unknown = listOf(groups).filter((name) => !known.has(name))
  for (const name of unknown) problems.push(`There is no group ${JSON.stringify(name)}.`)
  const hash = password_hash === '' ? undefined : (password_hash ?? undefined)
  const wrongHash = hash === undefined ? undefined : storedHashProblem(textIn(hash))
  if (wrongHash) problems.push(`password_hash ${wrongHash}.`)
  if (hash === undefined && fields.email === undefined)
    problems.push('password_hash or email is required: without both the user could never sign in.')
  const body = {
    ...fields,
    custom_scopes: listOf(scopes),
    groups: listOf(groups).flatMap((name) => known.get(name) ?? []),
  }
  try {
    userInput(body, ['username'])
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    problems.push(error.message)
  }
  if (problems.length > 0) return problems.join(' ')
  return { ...body, ...(hash !== undefined && { password_hash: hash }) }
}

/** Of a cell, names with a comma or semicolon between them. */
function listOf(value: JsonValue | undefined): string[] {
  const list = typeof value === 'string' ? value.split(/[,;]/) : Array.isArray(value) ? value : []
  return list.map((one) => (typeof one === 'string' ? one.trim() : String(one))).filter((one) => one !== '')
}

/** A name is no other's address either, as at `POST /users`. */
function takenIn(places: Map<string, string>, place: string, row: JsonObject): string | undefined {
  const names = new Set(
    [row.username, row.email].map((one) => folded(textIn(one))).filter((one) => one !== ''),
  )
  for (const name of names) {
    const other = places.get(name)
    if (other !== undefined) return `The same username or email is in ${other}.`
  }
  for (const name of names) places.set(name, place)
  return undefined
}

async function groupsByName(management: Management): Promise<ReadonlyMap<string, string>> {
  const found = await management.call('POST', '/_system/authentication-groups/search', { limit: MOST_GROUPS })
  return new Map(recordsOf(found).map((group) => [textIn(group.name), guidOf(group)]))
}

/** Of these rows, the names or addresses that users have. */
async function takenAmong(
  management: Management,
  field: 'username' | 'email',
  rows: readonly { readonly body: JsonObject }[],
): Promise<ReadonlySet<string>> {
  const asked = rows.map(({ body }) => textIn(body[field])).filter((text) => text !== '')
  if (asked.length === 0) return new Set()
  const search = { filters: { [field]: asked }, limit: SEARCHED }
  const found = recordsOf(await management.call('POST', '/users/search', search))
  return new Set(found.map((user) => folded(textIn(user[field]))))
}

function withoutHashes(text: string): string {
  const words = text.split(' ').map((word) => (word.includes('$') ? '…' : word))
  return words.join(' ').slice(0, LONGEST_PRINTED)
}

function unknownColumn(name: string): string {
  if (name === 'password')
    return 'password is no column: a file of readable passwords is a danger of its own. Send password_hash, or neither.'
  return `${JSON.stringify(name.slice(0, 60))} is no column. There are ${columns.join(', ')}.`
}

function usersIn(file: string): AsyncGenerator<ImportedUser, void> {
  const format = extname(file).toLowerCase()
  if (format === '.csv' || format === '.tsv') return usersOfTable(file)
  if (format === '.ndjson' || format === '.jsonl') return usersOfLines(file)
  if (format === '.json') return usersOfList(file)
  throw new Error(`The name of ${file} must end with .csv, .tsv, .ndjson, .jsonl or .json.`)
}

async function* usersOfTable(file: string): AsyncGenerator<ImportedUser, void> {
  let names: readonly string[] | undefined
  try {
    for await (const { line, cells } of allCells(file, { format: 'csv' })) {
      const texts = cells.map((cell) => String(cell).trim())
      if (names === undefined) {
        names = texts.map((name) => name.toLowerCase())
        const wrong = names.find((name) => !columns.includes(name))
        if (wrong !== undefined) throw new Error(`Line ${line}: ${withoutHashes(unknownColumn(wrong))}`)
        if (new Set(names).size < names.length) throw new Error(`Line ${line} names a column twice.`)
        continue
      }
      const known = names
      const place = `line ${line}`
      if (texts.slice(known.length).some((text) => text !== ''))
        yield { place, values: 'There are more cells than columns.' }
      else yield { place, values: Object.fromEntries(known.map((name, at) => [name, texts[at] ?? ''])) }
    }
  } catch (error) {
    throw inWords(error)
  }
}

async function* usersOfLines(file: string): AsyncGenerator<ImportedUser, void> {
  for await (const { number, bytes } of linesOf(createReadStream(file))) {
    const read = readJson(bytes.toString('utf8').replace(/^\ufeff/, ''))
    const value = 'problem' in read ? undefined : read.value
    const problem = 'problem' in read ? `It ${read.problem}.` : 'It is no JSON object.'
    yield { place: `line ${number}`, values: isJsonObject(value) ? value : problem }
  }
}

async function* usersOfList(file: string): AsyncGenerator<ImportedUser, void> {
  try {
    for await (const { number, item } of jsonItems(file)) yield { place: `item ${number}`, values: item }
  } catch (error) {
    throw new Error(`${file}: ${withoutHashes(error instanceof Error ? error.message : String(error))}.`, {
      cause: error,
    })
  }
}
