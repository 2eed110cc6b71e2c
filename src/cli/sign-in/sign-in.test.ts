/** login and logout against a real server, and what other commands do with the sign-in. */
import { randomFillSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { adminPassword } from '../../../test/end-to-end/harness.ts'
import { quoinCommand } from '../../../test/recording-terminal.ts'
import { readOptions } from '../../options/options.ts'
import { openQuoin, type Quoin } from '../../quoin/quoin.ts'
import { type Mutation, setFields } from '../../shared/mutation.ts'
import { search } from '../../shared/query.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { transact } from '../../storage/transact.ts'

let directory: string
let quoin: Quoin
let address: string
let settings: { readonly XDG_CONFIG_HOME: string }

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  settings = { XDG_CONFIG_HOME: join(directory, 'config') }
  const options = readOptions({
    QUOIN_DATA: join(directory, 'data'),
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_LOG_LEVEL: 'silent',
  })
  const random = (bytes: Uint8Array) => void randomFillSync(bytes)
  quoin = await openQuoin(options, { clock: Date.now, random, synchronous: 'OFF' })
  address = await quoin.server.listen()
})
afterAll(async () => {
  await quoin.close()
  await rm(directory, { recursive: true, force: true })
})
beforeEach(() => rm(settings.XDG_CONFIG_HOME, { recursive: true, force: true }))

const folder = () => join(settings.XDG_CONFIG_HOME, 'quoin')
const file = () => join(folder(), 'sign-ins.json')
const login = (password = adminPassword, where = address) =>
  quoinCommand(['login', where, 'admin'], settings, password)
const exportTasks = () => quoinCommand(['export', 'Tasks', '--url', address], settings)
const storedToken = async (): Promise<string> => {
  const { servers } = JSON.parse(await readFile(file(), 'utf8'))
  return servers[address].token
}

test('a sign-in is stored for its owner only, without the password, and used by other commands', async () => {
  const end = await login()
  expect(end).toMatchObject({ code: 0, complained: '' })
  expect(end.printed).toBe(`Signed in to ${address} as admin. Use it with: --url ${address}`)
  expect((await stat(file())).mode & 0o777).toBe(0o600)
  expect((await stat(folder())).mode & 0o777).toBe(0o700)
  expect(await readdir(folder())).toEqual(['sign-ins.json'])
  const text = await readFile(file(), 'utf8')
  expect(text).not.toContain(adminPassword)
  expect(JSON.parse(text)).toEqual({
    format: 'quoin-sign-ins-1',
    servers: { [address]: { username: 'admin', token: expect.stringMatching(/^\S{20,}$/) } },
  })
  expect(end.printed).not.toContain(await storedToken())
  expect(await exportTasks()).toMatchObject({ code: 0, complained: '' })
  const otherSpelling = ['export', 'Tasks', '--url', `${address.toUpperCase()}/api/v1/`]
  expect(await quoinCommand(otherSpelling, settings)).toMatchObject({ code: 0, complained: '' })
})

/** Makes the sign-in that is stored one of long ago. Gives its user. */
async function ageSession(): Promise<string> {
  const by = await quoin.access.identify(await storedToken())
  if (!by) throw new Error('There is no sign-in.')
  await transact(quoin.database, (session) =>
    session.update('_tokens', by.tokenGuid, setFields({ created: 1 })),
  )
  return by.guid
}

test('a command that needs a confirmed session asks for the password and goes on', async () => {
  await login()
  await ageSession()
  const reset = (password: string) =>
    quoinCommand(['user', 'reset-second-factor', 'admin', '--url', address], settings, password)
  expect(await reset('a wrong password')).toMatchObject({ code: 1, complained: 'password is wrong.' })
  // The server looks for the factor only behind the confirmation.
  const done = await reset(adminPassword)
  expect(done.complained).toContain('no second factor')
  expect(await reset('')).toEqual(done)
})

test('a user is created in an old session behind the password, and else the command says what to do', async () => {
  await login()
  const guid = await ageSession()
  const create = (more: Readonly<Record<string, string>> = {}, password = adminPassword) =>
    quoinCommand(['user', 'create', 'cleo', '--url', address], { ...settings, ...more }, password)
  const there = async () => (await quoin.access.searchUsers(search({ limit: 100 }))).records.length
  expect(await create({}, 'a wrong password')).toMatchObject({ code: 1, complained: 'password is wrong.' })
  // A program has no person who could be asked.
  const token = await create({ QUOIN_TOKEN: await storedToken() })
  expect(token).toMatchObject({ code: 1, complained: expect.stringContaining('Programs use an API key.') })
  const [{ password_hash } = {}] = documentsOf(
    await quoin.database.session().find('_users', search({ limit: 1 })),
  )
  const set = (change: Mutation) =>
    transact(quoin.database, (session) => session.update('_users', guid, [change]))
  await set({ op: 'remove', field: 'password_hash' })
  expect(await create()).toMatchObject({
    code: 1,
    complained: expect.stringContaining(`quoin login ${address}, sign in with the browser`),
  })
  expect(await there()).toBe(1)
  await set({ op: 'set', field: 'password_hash', value: password_hash ?? null })
  expect(await create()).toMatchObject({ code: 0 })
  expect(await there()).toBe(2)
})

test('QUOIN_TOKEN is used instead', async () => {
  await login()
  const end = await quoinCommand(['export', 'Tasks', '--url', address], { ...settings, QUOIN_TOKEN: 'no' })
  expect(end).toMatchObject({ code: 1, printed: '' })
  expect(end.complained).toContain('access token')
})

test.each([
  ['a wrong password', () => login('a wrong password')],
  ['a server that is not there', () => login(adminPassword, 'http://127.0.0.1:9')],
  ['no password', () => login('')],
])('%s stores nothing', async (_what, signIn) => {
  const end = await signIn()
  expect(end.code).not.toBe(0)
  expect(end.complained.split('\n')).toHaveLength(1)
  await expect(stat(file())).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a sign-out ends the token on the server and deletes it here; other servers stay', async () => {
  await login()
  const token = await storedToken()
  const { format, servers } = JSON.parse(await readFile(file(), 'utf8'))
  const other = { 'http://other.example': { username: 'ann', token: 'secret' } }
  await writeFile(file(), JSON.stringify({ format, servers: { ...servers, ...other } }))
  const unnamed = await quoinCommand(['logout'], settings)
  expect(unnamed).toMatchObject({ code: 2, complained: expect.stringContaining('several sign-ins') })
  const end = await quoinCommand(['logout', address], settings)
  expect(end).toEqual({ code: 0, printed: `Signed out of ${address}.`, complained: '' })
  expect(await quoin.access.identify(token)).toBeUndefined()
  expect(JSON.parse(await readFile(file(), 'utf8')).servers).toEqual(other)
  expect(await exportTasks()).toMatchObject({ code: 2, complained: expect.stringContaining('no sign-in to') })
})

test('the last sign-out needs no address and leaves no file', async () => {
  await login()
  expect(await quoinCommand(['logout'], settings)).toMatchObject({ code: 0 })
  expect(await readdir(folder())).toEqual([])
  expect(await quoinCommand(['logout'], settings)).toMatchObject({
    code: 1,
    complained: 'There is no sign-in.',
  })
})

test('a token that has ended is one line that says how to sign in again', async () => {
  await login()
  await quoin.access.signOut(await storedToken(), { ip: '127.0.0.1' })
  expect(await exportTasks()).toEqual({
    code: 1,
    printed: '',
    complained: `The sign-in to ${address} has expired or was ended. Run: quoin login ${address} admin`,
  })
  expect(await quoinCommand(['logout'], settings)).toMatchObject({ code: 0, complained: '' })
})

test.each([
  ['others of the group can read', 0o640],
  ['anyone can read', 0o604],
  ['anyone can write', 0o602],
])('a file that %s is refused, and nothing is sent', async (_who, mode) => {
  await login()
  await chmod(file(), mode)
  for (const end of [await exportTasks(), await login(), await quoinCommand(['logout'], settings)]) {
    expect(end).toMatchObject({ code: 1, printed: '' })
    expect(end.complained).toBe(
      `${file()} contains access tokens and other users can read it. Run: chmod 600 ${file()}`,
    )
  }
  await chmod(file(), 0o600)
  expect(await quoin.access.identify(await storedToken())).toBeDefined()
})

test.each([
  '',
  '{',
  '[]',
  '{"format":"other","servers":{}}',
  '{"format":"quoin-sign-ins-1","servers":{"a":1}}',
])('a damaged file (%s) is one line', async (text) => {
  await mkdir(folder(), { recursive: true })
  await writeFile(file(), text, { mode: 0o600 })
  const end = await exportTasks()
  expect(end).toMatchObject({ code: 1, printed: '', complained: expect.stringContaining('is damaged') })
})
