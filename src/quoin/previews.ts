/**
 * Previews: an application beside the live one, for some hours. Each is a space that is reached below a path, so that it has blueprints,
 * storages, groups, users, jobs and caches of its own by construction, and is removed as a whole.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Identity } from '../access/identity-cache.ts'
import type { Applications } from '../applications/applications.ts'
import type { Publisher } from '../applications/apply-release.ts'
import { readApplication } from '../applications/known-application.ts'
import type { Flows } from '../flows/flows.ts'
import { Secrets, showValue } from '../flows/values/shown-value.ts'
import type { ManagedPreviews } from '../http/routes/blueprints/previews.ts'
import { subjectOf } from '../records/permissions/judge.ts'
import type { Actor } from '../records/records.ts'
import { PREVIEW_MARK, type Space } from '../records/spaces.ts'
import type { MadePreview, Preview, PreviewRequest } from '../shared/api/blueprints/applications.ts'
import { type Application, nameOfApplication } from '../shared/application/application.ts'
import type { Clock } from '../shared/clock.ts'
import { pauses } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, memberOf } from '../shared/json.ts'
import { isSecretName } from '../shared/names/secret-names.ts'
import { search } from '../shared/query.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import { documentsOf, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { SpaceNode, Spaces } from './space-work.ts'

const HOUR = 3_600
const DEFAULT_HOURS = 24
const QUOTAS = { documents: 20_000, bytes: 256 * 1024 * 1024, runs_a_minute: 6_000, jobs: 10_000 }
/** Applications that come along because it uses storages of theirs. */
const MOST_USED = 20
/** Accounts, one for each group. */
const MOST_ACCOUNTS = 20
/** Copied, of all storages together: a push takes 4 MiB. */
const MOST_COPIED_BYTES = 2 * 1024 * 1024
/** Characters of one document: below what `showValue` reads of a value. */
const MOST_OF_COPY = 1024 * 1024 - 1
const PAGE = 100
/** While values follow a renamed field. */
const AGAIN_MS = 200
const MOST_TRIES = 50

interface PreviewParts {
  readonly spaces: Pick<Spaces<SpaceNode>, 'previews' | 'create' | 'during' | 'extend' | 'remove'>
  /** The live ones. */
  readonly applications: Pick<Applications, 'read'>
  readonly flows: Pick<Flows, 'permissions' | 'records' | 'environmentValues'>
  readonly clock: Clock
  /** Names of applications whose pushes need a second person, or `*`. */
  readonly approved: () => readonly string[]
}

export function openPreviews(parts: PreviewParts): ManagedPreviews {
  const { spaces } = parts
  const named = (name: string) => spaces.previews().find((space) => space.name === PREVIEW_MARK + name)
  return {
    list: () => spaces.previews().map(shown),
    async make(input, by) {
      const requested = await readApplication(input.application)
      const author = authorOf(parts, requested, input, by)
      const present = named(input.name)
      return present
        ? pushInto(parts, present, requested, input, author)
        : makeNew(parts, requested, input, author)
    },
    async remove(name, by) {
      const space = named(name)
      if (!space) throw new QuoinError('NOT_FOUND', `There is no preview ${JSON.stringify(name)}.`)
      await spaces.remove(space.guid, space.name, by)
    },
  }
}

function shown({ name, state, preview }: Space): Preview {
  const { application = '', until = 0, outside = false, by = { guid: '', username: '' } } = preview ?? {}
  const path = `/${name}/`
  return { name: name.slice(PREVIEW_MARK.length), application, path, state, until, outside, by: { ...by } }
}

/** What a second person would have to see before it is served on this host or reaches others is not in a preview. */
function authorOf(
  { approved }: PreviewParts,
  requested: Application,
  { outside = false }: PreviewRequest,
  by: Publisher,
): Publisher {
  const names = approved()
  if (!names.includes('*') && !names.includes(nameOfApplication(requested))) return by
  if (outside)
    throw new QuoinError(
      'CONFLICT',
      'A preview of an application whose pushes need a second person reaches nothing outside.',
    )
  return { ...by, mayScript: false }
}

function previewOf({ clock }: PreviewParts, requested: Application, input: PreviewRequest, by: Actor) {
  const { hours = DEFAULT_HOURS, outside = false } = input
  const until = Math.ceil(clock() / 1_000) + hours * HOUR
  return { application: nameOfApplication(requested), until, outside, by }
}

async function pushInto(
  parts: PreviewParts,
  space: Space,
  requested: Application,
  input: PreviewRequest,
  by: Publisher,
): Promise<MadePreview> {
  if (space.state !== 'active' || space.preview?.application !== nameOfApplication(requested))
    throw new QuoinError(
      'CONFLICT',
      `The preview ${input.name} is ${space.state === 'active' ? `one of ${space.preview?.application}` : `being made or removed`}. Choose another name.`,
    )
  if ((input.copy ?? 0) > 0)
    throw new QuoinError(
      'CONFLICT',
      `The preview ${input.name} is there already. Documents are copied into new ones only.`,
    )
  const preview = previewOf(parts, requested, input, by.actor)
  // Before what is pushed runs: behind it, it would reach others for a moment.
  if (space.preview.outside && !preview.outside) await parts.spaces.extend(space.guid, preview, by.actor)
  const pushed = await parts.spaces.during(space.name, (quoin) => pushAll(parts, quoin, requested, by))
  const changed = await parts.spaces.extend(space.guid, preview, by.actor)
  return { ...shown(changed), ...pushed, accounts: [], password: null, copied: 0 }
}

async function makeNew(
  parts: PreviewParts,
  requested: Application,
  input: PreviewRequest,
  by: Publisher,
): Promise<MadePreview> {
  const { spaces } = parts
  const name = PREVIEW_MARK + input.name
  const title = `${textIn(requested.about.title) || nameOfApplication(requested)} (${input.name})`
  const preview = previewOf(parts, requested, input, by.actor)
  let made: Pushed & Pick<MadePreview, 'copied' | 'accounts'> = { ...nothingPushed, copied: 0, accounts: [] }
  const { administrator } = await spaces.create(
    { name, title: title.slice(0, 100), hosts: [], quotas: QUOTAS, preview },
    {},
    by.actor,
    async (quoin) => {
      const { application, copied } = await withCopies(parts, requested, input.copy ?? 0, by)
      const pushed = await pushAll(parts, quoin, application, by)
      made = { ...pushed, copied, accounts: await makeAccounts(quoin, requested) }
    },
  )
  const space = spaces.previews().find((one) => one.name === name)
  if (!space) throw new QuoinError('CONFLICT', `The preview ${input.name} was removed meanwhile.`)
  return { ...shown(space), ...made, password: administrator.password }
}

type Pushed = Pick<MadePreview, 'release' | 'missing' | 'problems'>
const nothingPushed: Pushed = { release: 0, missing: [], problems: [] }

/** First the applications whose storages it uses, as they are live. */
async function pushAll(
  parts: PreviewParts,
  quoin: SpaceNode,
  requested: Application,
  by: Publisher,
): Promise<Pushed> {
  const used = new Map<string, Application>()
  await addUsed(parts, requested, used)
  await copyEnvironment(parts, quoin, [...used.values(), requested], by)
  for (const application of used.values()) await pushOne(quoin, application, by)
  return pushOne(quoin, requested, by)
}

/** Those that a used one uses itself come before it. One that is not live is refused by the plan, by its name. */
async function addUsed(
  { applications }: Pick<PreviewParts, 'applications'>,
  { about }: Application,
  used: Map<string, Application>,
  above: readonly string[] = [],
): Promise<void> {
  const names = new Set(textsIn(about.uses).map((use) => use.replace(/\..*/s, '')))
  for (const name of names) {
    if (used.has(name) || above.includes(name)) continue
    if (used.size + above.length >= MOST_USED)
      throw new QuoinError('CONFLICT', `A preview takes at most ${MOST_USED} other applications along.`)
    const live = await applications.read(name).catch(unlessUnknown)
    if (!live) continue
    await addUsed({ applications }, live, used, [...above, name])
    used.set(name, live)
  }
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof QuoinError) || error.code !== 'NOT_FOUND') throw error
}

/** Values that the applications need and the author may see; secrets stay where they are. */
async function copyEnvironment(
  { flows }: PreviewParts,
  { flows: own }: SpaceNode,
  applications: readonly Application[],
  { deployer, actor }: Publisher,
): Promise<void> {
  if (deployer.lacks('environment_view')) return
  const values = flows.environmentValues.present()
  const needed = applications.flatMap(({ about }) =>
    isJsonObject(about.needs) ? textsIn(about.needs.env) : [],
  )
  for (const name of new Set(needed)) {
    const value = memberOf(values, name)
    if (value === undefined || memberOf(own.environmentValues.present(), name) !== undefined) continue
    await own.environmentValues.create({ name, value }, actor)
  }
}

async function pushOne({ applications }: SpaceNode, requested: Application, by: Publisher): Promise<Pushed> {
  const input = { ...requested }
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const { state, steps, release, missing } = await applications.plan(input, by)
    if (steps.length === 0) return { release: release - 1, missing: [...missing], problems: [] }
    const pushed = await applications.push(input, { state, allowLoss: true }, by)
    if ('problems' in pushed) return { release, missing: [...missing], problems: [...pushed.problems] }
    await pause(AGAIN_MS)
  }
  throw new QuoinError('UNAVAILABLE', 'Values still follow a renamed field. Push again.', { retryAfter: 5 })
}

/** All have the password of `admin`. */
async function makeAccounts(
  { access, administrator, database }: SpaceNode,
  { groups }: Application,
): Promise<MadePreview['accounts']> {
  const accounts = [{ username: 'admin', group: '' }]
  const system: Identity = { guid: '', username: 'system', scopes: new Set(['*']), user: {}, tokenGuid: '' }
  for (const group of Object.keys(groups).slice(0, MOST_ACCOUNTS)) {
    const record = await findOne(database.session(), systemStorages.groups, 'name', group)
    if (!record) continue
    const username = accountName(
      group,
      accounts.map((one) => one.username),
    )
    const input = { username, password: administrator?.password ?? '', groups: [guidOf(record)] }
    await access.createUser(input, system)
    accounts.push({ username, group })
  }
  return accounts
}

/** `sales-2` for a group whose name has the same letters as that of another one. */
function accountName(group: string, taken: readonly string[]): string {
  const letters = group.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const name = /[a-z0-9]/.test(letters) ? letters.slice(0, 60) : 'group'
  if (!taken.includes(name)) return name
  for (let number = 2; ; number++) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`
}

/** In place of first documents: the newest ones of the live storages, as the author sees them. */
async function withCopies(
  { flows }: PreviewParts,
  requested: Application,
  most: number,
  { identity: { user, scopes } }: Publisher,
): Promise<{ readonly application: Application; readonly copied: number }> {
  if (most === 0) return { application: requested, copied: 0 }
  const { database } = flows.records
  const permitted = flows.permissions.database(database, subjectOf(user, scopes))
  const seed: Record<string, JsonObject> = { ...requested.seed }
  let [copied, bytes] = [0, 0]
  const wait = pauses()
  for (const [storage, { fields = {} }] of Object.entries(requested.storages)) {
    if (!database.has(storage)) continue
    const documents: JsonObject[] = []
    let after: string | undefined
    do {
      const sort = [{ field: '_meta.created', order: 'desc', missing: 'last' } as const]
      const limit = Math.min(PAGE, most - documents.length)
      const found = await permitted
        .session()
        .find(storage, search({ sort, limit, ...(after !== undefined && { after }) }))
      for (const document of documentsOf(found)) {
        await wait()
        const copy = copyOf(document, isJsonObject(fields) ? fields : {})
        bytes += copy?.bytes ?? 0
        if (copy && bytes <= MOST_COPIED_BYTES) documents.push(copy.document)
      }
      after = found.next()
    } while (after !== undefined && documents.length < most && bytes <= MOST_COPIED_BYTES)
    if (documents.length > 0) seed[storage] = { documents }
    copied += documents.length
  }
  return { application: { ...requested, seed }, copied }
}

/** With the new names of its fields, and values as traces show them. Undefined for one that is too long. */
function copyOf(stored: JsonObject, fields: JsonObject) {
  const { _meta, ...values } = stored
  const renamed = new Map<string, string>()
  for (const [name, field] of Object.entries(fields))
    if (isJsonObject(field) && typeof field.was === 'string') renamed.set(field.was, name)
  const named = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [renamed.get(name) ?? name, value] as const),
  )
  const wereSecret = [...renamed].filter(([was]) => isSecretName(was)).map(([, name]) => name)
  const secrets = new Secrets(new Set(wereSecret))
  const { text, bytes, whole } = showValue(named, secrets, MOST_OF_COPY)
  if (!whole) return undefined
  // A number is no text in the copy either: its field would refuse it.
  const isOther = ([name, value]: [string, JsonValue]) =>
    secrets.isSecret(name) && typeof value !== 'string' && typeof value !== 'boolean'
  const others = Object.entries(named).filter(isOther)
  const emptied = Object.fromEntries(others.map(([name]) => [name, null]))
  return { document: { _meta: { guid: guidOf(stored) }, ...JSON.parse(text), ...emptied }, bytes }
}
