import { queryOptions } from '@tanstack/react-query'
import type {
  ApplicationRecord,
  Preparing,
  Preview,
  Push,
  Release,
  Released,
  ReleasePlan,
  Tested,
} from '../../shared/api/blueprints/applications.ts'
import type {
  Assistant,
  BlueprintDraft,
  DescribeLine,
  Draft,
  WholeDraft,
} from '../../shared/api/blueprints/drafts.ts'
import type { JsonObject } from '../../shared/json.ts'
import { meQuery } from './account.ts'
import { queryClient } from './query-client.ts'
import { call, send } from './request.ts'

const base = '/_system/applications'
const drafts = '/_system/drafts'

export function listApplications(signal?: AbortSignal): Promise<ApplicationRecord[]> {
  return call<ApplicationRecord[]>('GET', base, { signal })
}

export const applicationsQuery = queryOptions({
  queryKey: ['applications', 'list'],
  queryFn: ({ signal }) => listApplications(signal),
})

/** None for a blueprint of its own. */
export const applicationOf = (blueprint: string) =>
  queryOptions({
    queryKey: ['applications', 'of', blueprint],
    queryFn: ({ signal }) => call<ApplicationRecord[]>('GET', `${base}?blueprint=${blueprint}`, { signal }),
    // A builder may lack the scope.
    retry: false,
  })

export const releasesQuery = (name: string) =>
  queryOptions({
    queryKey: ['applications', 'releases', name],
    queryFn: ({ signal }) =>
      call<Release[]>('GET', `${base}/${encodeURIComponent(name)}/releases`, { signal }),
  })

/** As the cluster has it now; with a number: what that release holds. */
export function readContent(name: string, release?: number, signal?: AbortSignal): Promise<JsonObject> {
  const of = release === undefined ? '' : `/releases/${release}`
  return call<JsonObject>('GET', `${base}/${encodeURIComponent(name)}${of}/content`, { signal })
}

/** What the tests of release `of` say of release `number`. */
export async function testRelease(
  name: string,
  { number, of, signal }: { readonly number: number; readonly of: number; readonly signal: AbortSignal },
): Promise<Tested['results']> {
  const path = `${base}/${encodeURIComponent(name)}/releases/${number}/test?tests_of=${of}`
  return (await call<Tested>('POST', path, { signal })).results
}

function listDrafts(signal?: AbortSignal): Promise<Draft[]> {
  return call<Draft[]>('GET', drafts, { signal })
}

export const draftsQuery = queryOptions({
  queryKey: ['applications', 'drafts'],
  queryFn: ({ signal }) => listDrafts(signal),
  // A builder may lack the scope.
  retry: false,
})

/** Those that change a blueprint. */
export const draftsOf = (blueprint: string) =>
  queryOptions({
    queryKey: ['applications', 'drafts', blueprint],
    queryFn: ({ signal }) => call<BlueprintDraft[]>('GET', `/blueprints/${blueprint}/drafts`, { signal }),
    // A builder may lack the scopes.
    retry: false,
  })

export const draftQuery = (guid: string) =>
  queryOptions({
    queryKey: ['applications', 'draft', guid],
    queryFn: ({ signal }) => call<WholeDraft>('GET', `${drafts}/${guid}`, { signal }),
    staleTime: 0,
  })

/** The user has at most one of each application; those of agents are of keys. */
export async function myDraft(application: string): Promise<Draft | undefined> {
  const [me, all] = await Promise.all([queryClient.ensureQueryData(meQuery), listDrafts()])
  return all.find(
    (one) => one.application === application && one.agent === '' && one.author.guid === me._meta.guid,
  )
}

/** Changes files of the user's draft of the application, and begins it where there is none. */
export async function editDraft(application: string, changes: unknown): Promise<Draft> {
  const draft = await call<Draft>('POST', drafts, { body: { application, changes } })
  await queryClient.invalidateQueries({ queryKey: ['applications'] })
  return draft
}

export async function removeDraft(guid: string): Promise<void> {
  await call('DELETE', `${drafts}/${guid}`)
  await queryClient.invalidateQueries({ queryKey: draftsQuery.queryKey })
}

export const assistantQuery = queryOptions({
  queryKey: ['applications', 'assistant'],
  queryFn: ({ signal }) => call<Assistant>('GET', '/_system/assistant', { signal }),
})

export interface Described {
  readonly application: string
  readonly text: string
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
}

/** Each line as it arrives. `signal` cancels the model too; what it has drafted stays. */
export async function describeNeed(
  described: Described,
  signal: AbortSignal,
  onLine: (line: DescribeLine) => void,
): Promise<void> {
  const response = await send('POST', '/_system/assistant', { body: described, signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    const lines = (rest + part.value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(JSON.parse(line))
  }
  await queryClient.invalidateQueries({ queryKey: ['applications'] })
}

const pushes = '/_system/pushes'

export const pushesQuery = queryOptions({
  queryKey: ['applications', 'pushes'],
  queryFn: ({ signal }) => call<Push[]>('GET', pushes, { signal }),
})

export const pushQuery = (guid: string) =>
  queryOptions({
    queryKey: ['applications', 'push', guid],
    queryFn: ({ signal }) => call<Push>('GET', `${pushes}/${guid}`, { signal }),
    staleTime: 0,
  })

/** A push of another user, which is released by its approval. */
export function approval({ guid, plan }: Push): Releasable {
  return {
    key: ['push', guid],
    plan: async () => plan,
    push: ({ state }) => call<Released | Preparing>('POST', `${pushes}/${guid}/approve`, { body: { state } }),
  }
}

/** `withdraw`: of one's own. */
export async function endPush(guid: string, way: 'reject' | 'withdraw', comment: string): Promise<void> {
  const body = way === 'reject' ? { comment } : {}
  await call('POST', `${pushes}/${guid}/${way}`, { body })
  await queryClient.invalidateQueries({ queryKey: ['applications'] })
}

const previews = '/_system/previews'

export const previewsQuery = queryOptions({
  queryKey: ['applications', 'previews'],
  queryFn: ({ signal }) => call<Preview[]>('GET', previews, { signal }),
})

export async function removePreview(name: string): Promise<void> {
  await call('DELETE', `${previews}/${name}`)
  await queryClient.invalidateQueries({ queryKey: ['applications'] })
}

/** What can be planned and then pushed as that plan says. */
export interface Releasable {
  /** Names it among the queries of plans. */
  readonly key: readonly (string | number)[]
  plan(): Promise<ReleasePlan>
  push(plan: ReleasePlan, words: PushWords): Promise<Released | Preparing>
}

/** What a person allows or asks for with a push. */
export interface PushWords {
  readonly allowLoss: boolean
  readonly moveWaits: boolean
  /** Recorded runs are compared first: keys of differences that are meant. */
  readonly accepted: readonly string[] | undefined
}

function bodyOf({ state }: ReleasePlan, { allowLoss, moveWaits, accepted }: PushWords) {
  return { state, allow_loss: allowLoss, move_waits: moveWaits, ...(accepted && { verify: { accepted } }) }
}

export function draftRelease(guid: string): Releasable {
  return {
    key: ['draft', guid],
    plan: () => call<ReleasePlan>('POST', `${drafts}/${guid}/plan`),
    push: (plan, words) =>
      call<Released | Preparing>('POST', `${drafts}/${guid}/push`, { body: bodyOf(plan, words) }),
  }
}

/** What a release holds, once more as a new release. */
export function formerRelease(name: string, release: number): Releasable {
  const content = () => readContent(name, release)
  return {
    key: ['release', name, release],
    plan: async () => call<ReleasePlan>('POST', `${base}/plan`, { body: { application: await content() } }),
    push: async (plan, words) =>
      call<Released | Preparing>('POST', `${base}/push`, {
        body: { application: await content(), ...bodyOf(plan, words) },
      }),
  }
}

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 2_000

/**
 * Sends the push again and again while documents follow renamed fields: minutes for 100,000 of them. Gives the push where another user must
 * approve it: nothing is live then.
 */
export async function pushUntilLive(
  of: Releasable,
  plan: ReleasePlan,
  words: PushWords,
  { onProgress, signal }: Waiting,
): Promise<Released | Push> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    const reply = await of.push(plan, words)
    if ('problems' in reply) {
      // Blueprints, storages, fields, groups and templates: whatever is shown may have changed.
      await queryClient.invalidateQueries()
      return reply
    }
    if (reply.waiting) {
      await queryClient.invalidateQueries({ queryKey: ['applications'] })
      return reply.waiting
    }
    onProgress(reply.preparing)
    await new Promise((done) => setTimeout(done, wait))
    signal.throwIfAborted()
  }
}

interface Waiting {
  readonly onProgress: (preparing: Preparing['preparing']) => void
  /** When it is no longer looked at: copies stay, and the next push goes on with them. */
  readonly signal: AbortSignal
}
