/** What a user may do, and why; and who may do one thing: what opens each endpoint, page and storage to the user, or what is missing. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { holds } from '../../../access/scopes.ts'
import type { LiveTable } from '../../../flows/live/live-blueprints.ts'
import { type FieldRules, type PermissionName, permissionNames } from '../../../records/fields/field-rules.ts'
import { subjectOf } from '../../../records/permissions/judge.ts'
import type { Permissions } from '../../../records/permissions/permissions.ts'
import { explainBody, explainReply, whoMayBody, whoMayReply } from '../../../shared/api/people/explain.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { type ManagementScope, managementScopes, meaningOfScope } from '../../../shared/management-scopes.ts'
import { matchAll, type Query, search } from '../../../shared/query.ts'
import { guidOf, textIn, textsIn } from '../../../storage/document-fields.ts'
import { isOwnStorage } from '../../../storage/system-storages.ts'
import { callerOf, requireScope } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

export interface ExplainParts {
  readonly access: Pick<Access, 'getUser' | 'scopesOfUser' | 'getGroup' | 'searchUsers' | 'searchGroups'>
  readonly table: () => LiveTable
  readonly permissions: Permissions
  readonly rules: Pick<FieldRules, 'permissions'>
  readonly storages: () => readonly string[]
}

type Reply = Static<typeof explainReply>

/** Of one kind in one reply. */
const MOST_LISTED = 500

export function explainUserRoutes(parts: ExplainParts): RouteFamily {
  return (app) => {
    whoMayRoute(app, parts)
    app.post(
      '/users/:guid/explain',
      {
        config: { permission: 'users_view', bodyOptional: true },
        schema: {
          operationId: 'explainUser',
          summary: 'What a user may do, and why',
          description:
            'The scopes of the user and where they come from; each endpoint and page with what opens it to the user or what is missing; each storage with what the user may do with its documents. `contains` finds by method, address or name. At most 500 of each kind; `offset` gives the next ones. Endpoints are listed for callers with blueprints_view, storages for those with storages_view.',
          tags: ['Users'],
          params: guidParams,
          body: explainBody,
          response: { 200: explainReply },
        },
      },
      async (request) => {
        const { scopes } = callerOf(request)
        return explain(parts, request.params.guid, request.body ?? {}, (scope) => holds(scopes, scope))
      },
    )
  }
}

async function explain(
  parts: ExplainParts,
  guid: string,
  { contains = '', offset = 0 }: Static<typeof explainBody>,
  mayView: (scope: string) => boolean,
): Promise<Reply> {
  const user = await parts.access.getUser(guid)
  if (!user) throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
  const groups = await groupsOf(parts.access, user)
  const isActive = user.is_active === true
  const sources = sourcesOf(user, groups)
  const scopes = new Set(isActive ? sources.keys() : [])
  const fits = (text: string) => text.toLowerCase().includes(contains.toLowerCase())
  const live = mayView('blueprints_view') ? entryPointsOf(parts.table()) : []
  const entryPoints = live.filter(({ kind, method, uri, blueprint }) =>
    fits(`${kind} ${method} ${uri} ${blueprint.name}`),
  )
  const names = mayView('storages_view') ? parts.storages() : []
  const storages = names.filter((name) => !isOwnStorage(name) && fits(name)).toSorted()
  const page = <T>(list: readonly T[]) => list.slice(offset, offset + MOST_LISTED)
  return {
    user: { guid, username: textIn(user.username), is_active: isActive },
    groups: groups.map((group) => ({
      ...{ guid: guidOf(group), name: textIn(group.name) },
      is_active: group.is_active === true,
    })),
    scopes: [...sources].map(([scope, from]) => {
      const meaning = meaningOfScope(scope)
      return { scope, from: [...from], ...(meaning !== undefined && { meaning }) }
    }),
    management: managementScopes.filter((scope) => holds(scopes, scope)),
    endpoints: page(entryPoints).map((entryPoint) => ({
      ...entryPoint,
      ...opening(entryPoint.scopes, scopes, sources, isActive),
    })),
    storages: await storagesFor(parts, page(storages), user, scopes),
    total: { endpoints: entryPoints.length, storages: storages.length },
  }
}

async function groupsOf(access: ExplainParts['access'], user: JsonObject): Promise<readonly JsonObject[]> {
  const groups: JsonObject[] = []
  for (const guid of textsIn(user.groups)) {
    const group = await access.getGroup(guid)
    if (group) groups.push(group)
  }
  return groups
}

/** Where each scope comes from: `the user itself`, or names of active groups. */
function sourcesOf(user: JsonObject, groups: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  const sources = new Map<string, string[]>()
  const add = (scope: string, from: string) => void sources.set(scope, [...(sources.get(scope) ?? []), from])
  for (const scope of textsIn(user.custom_scopes)) add(scope, 'the user itself')
  for (const group of groups)
    if (group.is_active === true)
      for (const scope of textsIn(group.scopes)) add(scope, `the group ${textIn(group.name)}`)
  return sources
}

function entryPointsOf({ blueprints }: LiveTable) {
  return [...blueprints].flatMap(([guid, { compiled, name }]) => {
    const blueprint = { guid, name }
    return [
      ...compiled.endpoints.map(({ listening: { method, uri }, scopes }) => ({
        ...{ kind: 'endpoint' as const, method, uri: `/api/v1/${uri}`, blueprint, scopes: [...scopes] },
      })),
      ...compiled.pages.map(({ listening: { uri }, scopes }) => ({
        ...{ kind: 'page' as const, method: 'GET', uri: `/${uri}`, blueprint, scopes: [...scopes] },
      })),
    ]
  })
}

/** As `mayEnter` of `access/scopes.ts` decides, with its reason. */
function opening(
  required: readonly string[],
  held: ReadonlySet<string>,
  sources: ReadonlyMap<string, readonly string[]>,
  isActive: boolean,
): { readonly allowed: boolean; readonly because: string } {
  if (required.length === 0 || required.includes('*public'))
    return { allowed: true, because: 'It is public.' }
  if (!isActive) return { allowed: false, because: 'The user is not active and cannot sign in.' }
  if (required.includes('*loggedin')) return { allowed: true, because: 'It is open to each signed-in user.' }
  const scope = held.has('*') ? '*' : required.find((name) => held.has(name))
  return scope === undefined
    ? { allowed: false, because: `The user holds none of ${required.join(', ')}.` }
    : { allowed: true, because: `${scope} from ${(sources.get(scope) ?? []).join(' and ')}.` }
}

async function storagesFor(
  { permissions, rules }: ExplainParts,
  names: readonly string[],
  user: JsonObject,
  scopes: ReadonlySet<string>,
): Promise<Reply['storages']> {
  const subject = subjectOf(user, scopes)
  const all = await rules.permissions()
  const mayOf = async (name: string, rule: PermissionName) => {
    const expression = all.get(name)?.[rule]
    if (!subject.bound || expression === undefined) return 'all'
    const refused = rule !== 'see' && (await permissions.refusesAll(name, rule, subject))
    return refused ? 'none' : `where ${expression}`
  }
  return Promise.all(
    names.map(async (name) => {
      const [see, create, change, remove] = await Promise.all(
        permissionNames.map((rule) => mayOf(name, rule)),
      )
      const because = all.has(name)
        ? subject.bound
          ? 'By the rules of the storage.'
          : 'The user holds storages_rules, and no rule binds such users.'
        : 'The storage has no rules: each user who reaches an endpoint, a page or the grid may do this.'
      return {
        ...{
          name,
          see: see ?? 'all',
          create: create ?? 'all',
          change: change ?? 'all',
          remove: remove ?? 'all',
        },
        because,
      }
    }),
  )
}

/** Users of one reply. Rules are asked for each of them, in turns of their own. */
const MOST_USERS = 50
const MOST_GROUPS = 1_000

type Body = Static<typeof whoMayBody>
type WhoMayReply = Static<typeof whoMayReply>
type Needs = (scope: ManagementScope) => void

function whoMayRoute(app: App, parts: ExplainParts): void {
  app.post(
    '/users/explain',
    {
      config: { permission: 'users_view', errors: ['NOT_FOUND'] },
      schema: {
        operationId: 'explainWhoMay',
        summary: 'Who may do this, and why',
        description:
          'Name one endpoint, page, storage or scope. The reply has what opens it, the groups that give it, and the active users who may, with what each has it from; of a storage what its rules let each of them do. 50 users at a time; `offset` gives the next ones. Endpoints and pages need blueprints_view too, storages storages_view.',
        tags: ['Users'],
        body: whoMayBody,
        response: { 200: whoMayReply },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return whoMay(parts, request.body, (scope) => requireScope(caller, scope))
    },
  )
}

async function whoMay(parts: ExplainParts, body: Body, needs: Needs): Promise<WhoMayReply> {
  const { endpoint, page, storage, scope } = body
  if ([endpoint, page, storage, scope].filter((one) => one !== undefined).length !== 1)
    throw new QuoinError('INVALID_BODY', 'Name exactly one of endpoint, page, storage and scope.', {
      fields: ['endpoint', 'page', 'storage', 'scope'],
    })
  if (storage !== undefined) {
    needs('storages_view')
    return whoMayUse(parts, storage, body)
  }
  if (scope !== undefined) return whoHolds(parts, [scope], body)
  needs('blueprints_view')
  const address = page === undefined ? (endpoint ?? '').trim() : `GET ${page.trim()}`
  const kind = page === undefined ? 'endpoint' : 'page'
  const found = entryPointsOf(parts.table()).find(
    (one) => one.kind === kind && `${one.method} ${one.uri}` === address,
  )
  if (!found)
    throw new QuoinError(
      'NOT_FOUND',
      `No active blueprint has the ${kind} ${address}. Parameters are written {name}.`,
    )
  return whoHolds(parts, found.scopes, body)
}

/** One search of groups and one of users, however many there are of either. */
async function whoHolds(parts: ExplainParts, scopes: readonly string[], body: Body): Promise<WhoMayReply> {
  if (scopes.length === 0 || scopes.includes('*public'))
    return {
      open_to: 'public',
      because: 'It is public.',
      scopes: [...scopes],
      groups: [],
      users: [],
      total: 0,
    }
  if (scopes.includes('*loggedin')) {
    const because = 'It is open to each signed-in user.'
    const { users, total } = await activeUsers(parts, body, matchAll)
    return {
      ...{ open_to: 'signed_in', because, scopes: [...scopes], groups: [], total },
      users: users.map((user) => ({ ...shownUser(user), because })),
    }
  }
  const names = [...scopes, '*']
  const query = {
    kind: 'and',
    queries: [
      { kind: 'terms', field: 'scopes', values: names },
      { kind: 'term', field: 'is_active', value: true },
    ],
  } as const
  const groups = (
    await parts.access.searchGroups(search({ query, sort: byName('name'), limit: MOST_GROUPS }))
  ).records
  const guids = groups.map(guidOf)
  const { users, total } = await activeUsers(parts, body, {
    kind: 'or',
    queries: [
      { kind: 'terms', field: 'custom_scopes', values: names },
      { kind: 'terms', field: 'groups', values: guids },
    ],
  })
  return {
    ...{
      open_to: 'scopes',
      because: `It is open to those who hold one of ${scopes.join(', ')}.`,
      scopes: [...scopes],
    },
    groups: groups.map((group) => ({ guid: guidOf(group), name: textIn(group.name) })),
    users: users.map((user) => {
      const isIn = new Set(textsIn(user.groups))
      const own = groups.filter((group) => isIn.has(guidOf(group)))
      const sources = sourcesOf(user, own)
      return { ...shownUser(user), because: opening(scopes, new Set(sources.keys()), sources, true).because }
    }),
    total,
  }
}

const byName = (field: string) => [{ field, order: 'asc', missing: 'last' }] as const

/** Rules may ask for anything of a user, so each user of the page is judged by them: at most 50, three rules each. */
async function whoMayUse(parts: ExplainParts, storage: string, body: Body): Promise<WhoMayReply> {
  if (isOwnStorage(storage) || !parts.storages().includes(storage))
    throw new QuoinError('NOT_FOUND', `There is no storage ${storage.slice(0, 100)}.`)
  const hasRules = (await parts.rules.permissions()).has(storage)
  const { users, total } = await activeUsers(parts, body, matchAll)
  const judged: WhoMayReply['users'] = []
  for (const user of users) {
    const scopes = (await parts.access.scopesOfUser(guidOf(user))) ?? new Set<string>()
    for (const { name: _, ...may } of await storagesFor(parts, [storage], user, scopes))
      judged.push({ ...shownUser(user), ...may })
    await nextTurn()
  }
  return {
    ...{ open_to: hasRules ? 'rules' : 'signed_in', scopes: [], groups: [], users: judged, total },
    because: hasRules
      ? 'By the rules of the storage, through what each user reaches: endpoints, pages, the grid.'
      : 'The storage has no rules: who reaches an endpoint, a page or the grid may do this.',
  }
}

async function activeUsers(
  { access }: ExplainParts,
  { contains = '', offset = 0 }: Body,
  query: Query,
): Promise<{ readonly users: readonly JsonObject[]; readonly total: number }> {
  const named: Query[] =
    contains === '' ? [] : [{ kind: 'caseless', field: 'username', test: 'contains', value: contains }]
  const { records, total } = await access.searchUsers(
    search({
      query: { kind: 'and', queries: [{ kind: 'term', field: 'is_active', value: true }, query, ...named] },
      ...{ sort: byName('username'), limit: MOST_USERS, offset },
    }),
  )
  return { users: records, total }
}

function shownUser(user: JsonObject) {
  return {
    ...{ guid: guidOf(user), username: textIn(user.username) },
    ...(user.is_service === true && { is_service: true }),
  }
}
