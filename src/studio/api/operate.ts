import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { MAX_ALERTS } from '../../shared/alerts/alert-figures.ts'
import type { Tracing, TracingChange } from '../../shared/api/blueprints/runs.ts'
import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import type { AlertRecord } from '../../shared/api/operate/alerts.ts'
import type { BackupsState } from '../../shared/api/operate/backups.ts'
import type { ConnectionRecord, TriedConnection } from '../../shared/api/operate/connections.ts'
import type { Extension, RemovedExtension } from '../../shared/api/operate/extensions.ts'
import type { FiguresOverTime } from '../../shared/api/operate/figures.ts'
import type { DatabaseRecord, Info } from '../../shared/api/operate/nodes.ts'
import type { SecretKeyState, SecretRecord } from '../../shared/api/operate/secrets.ts'
import type { EnvironmentValue, OptionSetting } from '../../shared/api/operate/settings.ts'
import type { CreatedSpace, SpaceBackup, SpaceRecord, SpaceUsage } from '../../shared/api/operate/spaces.ts'
import type { MovedWaits, Wait } from '../../shared/api/operate/waits.ts'
import type { FigureRange } from '../../shared/charts/chart-scale.ts'
import type { JsonObject } from '../../shared/json.ts'
import { MAX_CONNECTIONS, MAX_ENVIRONMENT_VALUES, MAX_SECRETS } from '../../shared/names/stored-names.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { blockTypesQuery } from './block-types.ts'
import { namedRecords } from './named-records.ts'
import { queryClient } from './query-client.ts'
import { call, search } from './request.ts'
import { saveChanges } from './save-changes.ts'

export const alerts = namedRecords<AlertRecord>('/_system/alerts', 'alerts', MAX_ALERTS)

/** Gives how many messages are on their way. */
export async function testAlert(guid: string): Promise<number> {
  const { jobs } = await call<{ readonly jobs: readonly string[] }>('POST', `/_system/alerts/${guid}/test`)
  return jobs.length
}

const BASE = '/_system/backups'
const SPACES = '/_system/spaces'

export const backupsQuery = queryOptions({
  queryKey: ['backups'],
  queryFn: ({ signal }) => call<BackupsState>('GET', BASE, { signal }),
  // Quickly while something runs, so that a person sees how far it is.
  refetchInterval: ({ state }) => (state.data?.running ? 500 : 10_000),
})

async function change(method: 'POST' | 'DELETE', path: string): Promise<void> {
  await call(method, `${BASE}${path}`)
  await queryClient.invalidateQueries({ queryKey: backupsQuery.queryKey })
}

export const makeBackup = () => change('POST', '')
export const checkBackup = (name: string) => change('POST', `/${name}/check`)
export const restoreBackup = (name: string) => change('POST', `/${name}/restore`)
export const removeBackup = (name: string) => change('DELETE', `/${name}`)
export const removeRestored = (name: string) => change('DELETE', `/restored/${name}`)
/** The browser asks with the cookie of the session, and writes the file while it comes. */
export const backupFile = (name: string) => `/api/v1${BASE}/${name}/download`
export const cancelBackup = () => change('DELETE', '/running')

export const extensionsQuery = queryOptions({
  queryKey: ['extensions'],
  queryFn: ({ signal }) => call<Extension[]>('GET', '/_system/extensions', { signal }),
})

const extension = (name: string) => `/_system/extensions/${encodeURIComponent(name)}`

/** With the palette, which has its blocks or has them no longer. */
async function extensionsChanged(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: extensionsQuery.queryKey })
  await queryClient.invalidateQueries({ queryKey: blockTypesQuery.queryKey })
}

export async function switchExtension(
  name: string,
  body: { readonly on: boolean; readonly hash?: string },
): Promise<void> {
  await call('PUT', extension(name), { body })
  await extensionsChanged()
}

export async function removeExtension(name: string): Promise<RemovedExtension> {
  const removed = await call<RemovedExtension>('DELETE', extension(name))
  await extensionsChanged()
  return removed
}

export const connections = namedRecords<ConnectionRecord>(
  '/_system/connections',
  'connections',
  MAX_CONNECTIONS,
)

/** Sends one request over a stored connection. */
export function tryConnection(guid: string, path: string): Promise<TriedConnection> {
  return call<TriedConnection>('POST', `${connections.path}/${guid}/try`, { body: { path } })
}

export const environmentValues = namedRecords<EnvironmentValue>(
  '/_system/environment',
  'environment',
  MAX_ENVIRONMENT_VALUES,
)

/** What the cluster served over time; read again as often as a minute is stored. `until` of 0: up to now. */
export function figuresQuery(range: FigureRange, node: string, until: number) {
  return queryOptions({
    queryKey: ['figures', range, node, until],
    queryFn: ({ signal }) =>
      call<FiguresOverTime>('GET', '/_system/figures', {
        query: { range, ...(node !== '' && { node }), ...(until > 0 && { until }) },
        signal,
      }),
    refetchInterval: until > 0 ? false : 30_000,
    placeholderData: keepPreviousData,
  })
}

export const databaseQuery = queryOptions({
  queryKey: ['database'],
  queryFn: ({ signal }) => call<DatabaseRecord>('GET', '/_system/database', { signal }),
  refetchInterval: 10_000,
})

export const infoQuery = queryOptions({
  queryKey: ['info'],
  queryFn: ({ signal }) => call<Info>('GET', '/info', { signal }),
  staleTime: 60_000,
})

export const secrets = namedRecords<SecretRecord>('/_system/secrets', 'secrets', MAX_SECRETS)

/** Whether secrets can be set: said before a value is typed. */
export const secretKeyQuery = queryOptions({
  queryKey: ['secret-key'],
  queryFn: ({ signal }) => call<SecretKeyState>('GET', `${secrets.path}/key`, { signal }),
  staleTime: 60_000,
  retry: false,
})

/** Spaces of the cluster: of its operator. */
export const spaces = {
  find: (body: DocumentSearch, signal: AbortSignal) => search<SpaceRecord>(`${SPACES}/search`, body, signal),
  read: (guid: string, signal: AbortSignal) => call<SpaceRecord>('GET', `${SPACES}/${guid}`, { signal }),
  usage: (guid: string) =>
    queryOptions({
      queryKey: ['spaces', 'usage', guid],
      queryFn: ({ signal }) => call<SpaceUsage>('GET', `${SPACES}/${guid}/usage`, { signal }),
      // It may be full, or its database damaged: that is said at once.
      retry: false,
    }),
  create: (body: JsonObject) => spacesChanged(call<CreatedSpace>('POST', SPACES, { body })),
  suspend: (guid: string, suspended: boolean) =>
    spacesChanged(call<SpaceRecord>('PUT', `${SPACES}/${guid}`, { body: { suspended } })),
  save: (guid: string, sent: object, shown: object, shownOf: (stored: SpaceRecord) => object) =>
    spacesChanged(saveChanges<SpaceRecord>(`${SPACES}/${guid}`, sent, shown, { shownOf })),
  async remove(guid: string, confirm: string): Promise<void> {
    await call('DELETE', `${SPACES}/${guid}?confirm=${encodeURIComponent(confirm)}`)
    await queryClient.invalidateQueries({ queryKey: ['spaces', 'list'] })
  },
  backup: (guid: string) => call<SpaceBackup>('POST', `${SPACES}/${guid}/backup`),
}

/** Not what it uses: a space that was suspended or deleted cannot be asked. */
async function spacesChanged<T>(request: Promise<T>): Promise<T> {
  const changed = await request
  await queryClient.invalidateQueries({ queryKey: ['spaces', 'list'] })
  await queryClient.invalidateQueries({ queryKey: ['spaces', 'one'] })
  return changed
}

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => call<OptionSetting[]>('GET', '/_system/settings', { signal }),
})

/** `shown`: what the field had. Gives what is stored then. */
export async function setSetting(name: string, value: string, shown: string): Promise<string> {
  const path = `/_system/settings/${name}`
  const stored = await saveChanges<Pick<OptionSetting, 'name' | 'value'>>(
    path,
    { value },
    { value: shown },
    {
      read: async () => {
        const settings = await call<OptionSetting[]>('GET', '/_system/settings')
        return settings.find((one) => one.name === name) ?? { name, value: shown }
      },
      shownOf: (one) => ({ value: one.value ?? '' }),
    },
  )
  await queryClient.invalidateQueries({ queryKey: settingsQuery.queryKey })
  return stored.value ?? ''
}

export async function unsetSetting(name: string): Promise<void> {
  await call('DELETE', `/_system/settings/${name}`)
  await queryClient.invalidateQueries({ queryKey: settingsQuery.queryKey })
}

export function readTracing(blueprint: string, signal: AbortSignal): Promise<Tracing> {
  return call<Tracing>('GET', `/blueprints/${blueprint}/tracing`, { signal })
}

export function setTracing(blueprint: string, change: TracingChange): Promise<Tracing> {
  return call<Tracing>('PUT', `/blueprints/${blueprint}/tracing`, { body: change })
}

const path = '/_system/waits'

export function findWaits(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<Wait>> {
  return search<Wait>(`${path}/search`, body, signal)
}

export function readWait(guid: string, signal: AbortSignal): Promise<Wait> {
  return call<Wait>('GET', `${path}/${guid}`, { signal })
}

/** The run goes on as a job. `ended`: the way, and what comes with it. */
export async function continueWait(guid: string, ended: JsonObject): Promise<void> {
  await call('POST', `${path}/${guid}/continue`, { body: ended })
}

/** To the deployed version of their blueprint. */
export function moveWaits(requested: JsonObject): Promise<MovedWaits> {
  return call<MovedWaits>('POST', `${path}/move`, { body: requested })
}

export async function cancelWait(guid: string): Promise<void> {
  await call('DELETE', `${path}/${guid}`)
}

/** The jobs of waits change with them. */
export async function forgetWaits(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['waits'] })
  await queryClient.invalidateQueries({ queryKey: ['jobs'] })
}
