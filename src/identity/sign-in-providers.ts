/**
 * Providers that users sign in with (OpenID Connect, and OAuth 2 of GitHub): stored, in the memory of each node. Who may change one
 * can sign in as any user whose address is confirmed: the scopes for it equal administrator rights.
 */
import { Compile } from 'typebox/compile'
import type { Identity } from '../access/identity-cache.ts'
import { requirePerson } from '../access/keys/allowed-endpoints.ts'
import { checkGrants } from '../access/permitted-change.ts'
import { noGrants } from '../access/scopes.ts'
import { folded } from '../access/visible-text.ts'
import { callableFunctions, knownDeclarations } from '../expressions/functions/callable-functions.ts'
import { checkExpression } from '../expressions/language/check-expression.ts'
import { compileExpression } from '../expressions/language/compile/compile-expression.ts'
import { calledFunctions } from '../expressions/language/declared/functions.ts'
import { ExpressionError } from '../expressions/language/expression-error.ts'
import type { FunctionContext } from '../expressions/language/function-declaration.ts'
import { parseExpression } from '../expressions/language/parse-expression.ts'
import { objectType } from '../expressions/language/value-types.ts'
import { openNamedRecords } from '../records/named-records.ts'
import { SYSTEM } from '../records/records.ts'
import {
  type ProviderChanges,
  type ProviderInput,
  type StoredProvider,
  storedProvider,
} from '../shared/api/people/sign-in-providers.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { type JsonObject, sameJson } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, search } from '../shared/query.ts'
import type { Database, Session } from '../storage/database.ts'
import { guidOf, textIn } from '../storage/document-fields.ts'
import { documentsOf, findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'

/** Buttons on one page. */
const MOST_PROVIDERS = 50
/** Work of an expression over claims: 100 times what a list of 1,000 groups needs. */
const MOST_WORK = 1_000_000

export type SignInProvider = StoredProvider & { readonly guid: string }

export interface SignInProviders {
  /** By name, also those that are not active. */
  all(): readonly SignInProvider[]
  /** Those that are active, by name: the same objects until a record changes. */
  active(): readonly SignInProvider[]
  find(name: string): SignInProvider | undefined
  withGuid(guid: string): SignInProvider | undefined
  /** INVALID_BODY, CONFLICT (name taken), INSUFFICIENT_PERMISSIONS (scope of a group not held). */
  create(input: ProviderInput, by: Identity): Promise<JsonObject>
  get(guid: string): Promise<JsonObject>
  update(guid: string, changes: ProviderChanges, by: Identity): Promise<JsonObject>
  remove(guid: string, by: Identity): Promise<void>
  /**
   * Those that the settings of the nodes have, in place of what they had before: `groups` are names. Gives the names that no group has.
   * INVALID_BODY, CONFLICT (too many).
   */
  configure(providers: readonly ProviderInput[]): Promise<readonly string[]>
  close(): void
}

const defaults = {
  ...{
    description: '',
    kind: 'oidc',
    secret: '',
    scopes: 'openid email profile',
    is_active: true,
    create_users: false,
  },
  ...{ domains: [], required_domains: [], groups: [], groups_expression: '' },
  ...{ external_id_claim: '', trusts_factor: false, sign_out: false },
} satisfies Omit<ProviderChanges, 'title' | 'issuer' | 'client_id'>

export async function openSignInProviders(database: Database): Promise<SignInProviders> {
  const records = await openNamedRecords(database, {
    ...{ storage: systemStorages.signInProviders, noun: 'sign-in provider', most: MOST_PROVIDERS },
  })
  const stored = Compile(storedProvider)
  const read = new WeakMap<JsonObject, SignInProvider>()
  const readOne = (record: JsonObject) => {
    const provider = read.get(record) ?? { ...stored.Parse(record), guid: guidOf(record) }
    read.set(record, provider)
    return provider
  }
  const all = () => [...records.present().values()].map(readOne)
  const check = async (input: ProviderChanges, by: Identity) => {
    requirePerson(by)
    checkProvider(input)
    const groups = input.groups ?? []
    await checkGrants(database.session(), by, { ...noGrants, groups }, noGrants)
  }
  return {
    all,
    active: () => all().filter(({ is_active }) => is_active),
    find(name) {
      const record = records.present().get(name)
      return record && readOne(record)
    },
    withGuid: (guid) => all().find((one) => one.guid === guid),
    async create({ name, ...input }, by) {
      await check(input, by)
      return records.create({ ...defaults, ...input, name }, actorOf(by))
    },
    get: records.get,
    async update(guid, changes, by) {
      await check(changes, by)
      const changed = (record: JsonObject) => {
        refuseConfigured(record)
        return changes
      }
      return records.update(guid, changed, actorOf(by))
    },
    async remove(guid, by) {
      requirePerson(by)
      refuseConfigured(await records.get(guid))
      await records.remove(guid, actorOf(by))
    },
    async configure(providers) {
      // Most clusters have none, and never had.
      if (providers.length === 0 && !all().some((one) => one.from_settings)) return []
      const alone = database.capabilities.withClusterLock
      const unknown = await alone(systemStorages.signInProviders, () =>
        transactAgain(database, (session) => storeConfigured(session, providers)),
      )
      await records.refresh()
      return unknown
    },
    close: records.close,
  }
}

function actorOf({ guid, username }: Identity) {
  return { guid, username }
}

function refuseConfigured({ name, from_settings }: JsonObject): void {
  if (from_settings === true)
    throw new QuoinError(
      'CONFLICT',
      `${textIn(name)} comes from QUOIN_SIGNIN_PROVIDERS. Change it there, and start the nodes again.`,
    )
}

/** A record that is already so is not written. One that people made becomes that of the settings, with its accounts. */
async function storeConfigured(
  session: Session,
  providers: readonly ProviderInput[],
): Promise<readonly string[]> {
  const storage = systemStorages.signInProviders
  const groups = await groupsByName(session, providers)
  const present = await findAll(session, storage, matchAll, MOST_PROVIDERS)
  const configured = new Set(providers.map(({ name }) => name))
  for (const record of present)
    if (record.from_settings === true && !configured.has(textIn(record.name)))
      await session.setRemoved(storage, guidOf(record), true)
  for (const { groups: names = [], ...input } of providers) {
    const chosen = names.flatMap((name) => groups.get(folded(name)) ?? [])
    const fields: JsonObject = { ...defaults, ...input, groups: chosen, from_settings: true }
    const there = present.find(({ name }) => name === input.name) ?? (await former(session, input.name))
    const isSame = there && Object.entries(fields).every(([name, value]) => sameJson(there[name], value))
    if (isSame) continue
    const mutations = setFields({ ...fields, modified_by: { ...SYSTEM } })
    if (there) await session.update(storage, guidOf(there), mutations)
    else await session.create(storage, [...mutations, ...setFields({ created_by: { ...SYSTEM } })])
  }
  if ((await session.count(storage, matchAll)) > MOST_PROVIDERS)
    throw new QuoinError('CONFLICT', `A cluster has at most ${MOST_PROVIDERS} sign-in providers.`)
  const named = providers.flatMap((one) => one.groups ?? [])
  return [...new Set(named.filter((name) => !groups.has(folded(name))))]
}

/** One that was taken out of the settings comes back as it was, so that it knows the accounts of its users again. */
async function former(session: Session, name: string): Promise<JsonObject | undefined> {
  const storage = systemStorages.signInProviders
  const sort = [{ field: '_meta.ums', order: 'desc', missing: 'last' } as const]
  const query = { kind: 'term', field: 'name', value: name } as const
  const requested = search({ query, sort, limit: MOST_PROVIDERS, includeRemoved: true })
  const found = documentsOf(await session.find(storage, requested))
  const record = found.find((one) => one.from_settings === true)
  if (record) await session.setRemoved(storage, guidOf(record), false)
  return record
}

/** Guids by folded name. */
async function groupsByName(
  session: Session,
  providers: readonly ProviderInput[],
): Promise<ReadonlyMap<string, string>> {
  const values = [...new Set(providers.flatMap((one) => one.groups ?? []).map(folded))]
  if (values.length === 0) return new Map()
  const named = { kind: 'terms', field: 'name_key', values } as const
  const found = await findAll(session, systemStorages.groups, named, values.length)
  return new Map(found.map((one) => [textIn(one.name_key), guidOf(one)]))
}

/** Throws INVALID_BODY, with the field. */
export function checkProvider({ issuer, groups_expression = '' }: ProviderChanges): void {
  if (issuer !== undefined) {
    const url = URL.parse(issuer)
    if (url?.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
      throw invalidField('issuer', 'issuer must be an address without a password and a query.')
    // The library would take any issuer then.
    if (url.pathname.includes('/.well-known/'))
      throw invalidField('issuer', 'issuer must end before /.well-known/.')
    if (!isSafe(url))
      throw invalidField('issuer', 'issuer must begin with https://; http:// is for this machine only.')
  }
  const problem = groups_expression === '' ? undefined : groupsProblem(groups_expression)
  if (problem !== undefined) throw invalidField('groups_expression', `groups_expression: ${problem}`)
}

/** Whether no other machine can read what is sent there. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

function groupsProblem(text: string): string | undefined {
  const { expression, problem } = parseExpression(text)
  if (!expression) return `${problem.message} (column ${problem.start + 1})`
  const { varies } = calledFunctions(expression.root)
  if (varies.has('random')) return 'It cannot be random.'
  if (varies.has('language')) return 'It cannot depend on a language.'
  const { problems } = checkExpression(expression, {
    typeOf: (name, inBlocks) => (!inBlocks && name === 'claims' ? objectType : undefined),
    names: ['claims'],
    declarations: knownDeclarations(),
  })
  const [first] = problems.filter(({ severity }) => severity === 'error')
  return first && `${first.message} (column ${first.start + 1})`
}

interface ClaimsFrame {
  readonly claims: JsonObject
  readonly context: FunctionContext
}

/**
 * The names of groups that the expression gives. Empty for anything else than texts: a provider that sends no groups gives none. Throws
 * UNAVAILABLE for an expression that fails, so that a fault takes no group away.
 */
export function groupNames({ groups_expression: text }: SignInProvider, claims: JsonObject, now: number) {
  const { expression } = parseExpression(text)
  if (!expression) throw unusable('cannot be read')
  const evaluate = compileExpression<ClaimsFrame>(expression, {
    ...callableFunctions(),
    name: (name, inBlocks) => (!inBlocks && name === 'claims' ? (frame) => frame.claims : undefined),
    context: ({ context }) => context,
  })
  try {
    const names = [evaluate({ claims, context: contextAt(now) })].flat()
    return names.filter((name) => typeof name === 'string')
  } catch (error) {
    if (error instanceof ExpressionError) throw unusable(error.withoutValue)
    throw error
  }
}

function contextAt(now: number): FunctionContext {
  let left = MOST_WORK
  return {
    now: () => now,
    random: (bytes) => new Uint8Array(bytes),
    ...{ timeZone: 'UTC', locale: 'en' },
    spend(elements, work = elements) {
      left -= elements + work
      if (left < 0) throw unusable('takes too long')
    },
  }
}

function unusable(problem: string): QuoinError {
  return new QuoinError('UNAVAILABLE', `The groups_expression of the sign-in provider fails: ${problem}`)
}
