/** Flows on a real database, with storage events and a worker that the test drives by hand. */

import { loadBlocks } from '../src/blocks/load-blocks.ts'
import type { Reply } from '../src/blocks/reply.ts'
import type { RunRequest } from '../src/blocks/run-request.ts'
import { openAwaitedDocuments } from '../src/flows/background/awaited-documents.ts'
import { jobRunner } from '../src/flows/background/run-job.ts'
import { openStorageEvents } from '../src/flows/background/storage-events.ts'
import { stageEdits } from '../src/flows/blueprints/block-edits.ts'
import { installBlueprint } from '../src/flows/blueprints/install-blueprint.ts'
import { saveStaged } from '../src/flows/blueprints/settle-staged.ts'
import { type Flows, openFlows } from '../src/flows/flows.ts'
import type { RunEnd } from '../src/flows/run/run-start.ts'
import { type Runs, runPipeline } from '../src/flows/run-pipeline.ts'
import { sendAlert } from '../src/flows/send-alert.ts'
import { blockRecords, openRecords } from '../src/records/records.ts'
import { isJsonObject, type JsonObject } from '../src/shared/json.ts'
import { matchAll, type Query, search } from '../src/shared/query.ts'
import { guidOf, textIn } from '../src/storage/document-fields.ts'
import { type Job, JobPostponed } from '../src/storage/job.ts'
import { systemStorages } from '../src/storage/system-storages.ts'
import { bareRunServices } from './bare-services.ts'
import { requestWith } from './run-block.ts'
import type { FlowBlocks } from './run-flow.ts'
import { seededRandom } from './seeded-random.ts'
import { openTestDatabase, type TestDatabase, withoutRules } from './test-database.ts'

export const ada = { guid: 'ada-guid', username: 'ada' }
/** As requests carry her. */
export const adaUser: JsonObject = { _meta: { guid: ada.guid }, username: ada.username }

/** How an attempt at a job ended: the job, and what it threw. */
export interface Worked {
  readonly job: Job
  readonly error: string | undefined
}

export interface JobFixture extends TestDatabase {
  readonly flows: Flows
  readonly runs: Runs
  readonly runJob: ReturnType<typeof jobRunner>
  /** Ends telling runs that wait for documents of writes. */
  readonly closeAwaited: () => void
  /** Makes and activates a blueprint; its guid. */
  install(blocks: FlowBlocks): Promise<string>
  /** Sends a request to the blueprint's first endpoint. */
  send(
    blueprint: string,
    request?: Partial<RunRequest>,
  ): Promise<{ readonly end: RunEnd; readonly replies: readonly Reply[] }>
  /** Claims and runs what is due until nothing is; a failed attempt is not tried again. */
  work(): Promise<Worked[]>
  documents(storage: string, query?: Query): Promise<readonly JsonObject[]>
  /** Messages of the system log. */
  logged(): Promise<readonly string[]>
}

/** What a room without mail does with one. */
async function noMail(): Promise<void> {
  throw new Error('This room sends no mail.')
}

/** `sendMail`: as for {@link jobRunner}. */
export async function openJobFixture(
  input: Partial<Pick<Parameters<typeof jobRunner>[0], 'sendMail'>> = {},
): Promise<JobFixture> {
  const fixture = await openTestDatabase()
  const { clock } = fixture
  const database = withoutRules(fixture.database)
  const flows = await openFlows({
    ...bareRunServices,
    records: await openRecords(database, clock),
    catalogue: await loadBlocks(),
    random: seededRandom(1),
    limits: { deadline: 5_000, budget: 100_000, depth: 8 },
    allowedHosts: () => ['127.0.0.1'],
    reservedRoots: new Set(),
  })
  const runs = runPipeline(flows)
  const closeEvents = openStorageEvents({ database, live: flows.live, log: flows.log })
  const closeAwaited = await openAwaitedDocuments({ database, live: flows.live })
  const findUser = (guid: string) => (guid === ada.guid ? adaUser : undefined)
  const findActive = async (guid: string) =>
    guid === ada.guid ? { user: adaUser, scopes: new Set<string>() } : undefined
  const runJob = jobRunner({
    flows,
    runs,
    findUser,
    findActive,
    sendMail: input.sendMail ?? noMail,
    sendAlert: (job, signal) => sendAlert(flows, job, signal),
  })

  async function documents(name: string, query: Query = matchAll): Promise<readonly JsonObject[]> {
    const sort = [{ field: '_meta.guid', order: 'asc', missing: 'last' }] as const
    const found = await database.session().find(name, search({ query, sort, limit: 1000 }))
    return Array.isArray(found.documents.value) ? found.documents.value.filter(isJsonObject) : []
  }

  async function attempt(job: Job): Promise<Worked> {
    try {
      const ended = await runJob(job, new AbortController().signal)
      if (ended === undefined) await database.capabilities.jobs.complete(job)
      return { job, error: undefined }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof JobPostponed) await database.capabilities.jobs.release([job], clock.now + 1_000)
      else await database.capabilities.jobs.fail(job, message)
      return { job, error: message }
    }
  }

  return {
    ...fixture,
    closeAwaited,
    flows,
    runs,
    runJob,
    install: (blocks) => installBlueprint(flows, { name: 'Test', blocks }, ada),
    async send(blueprint, changes = {}) {
      const [endpoint] = flows.live.table().blueprints.get(blueprint)?.compiled.endpoints ?? []
      if (!endpoint) throw new Error('The blueprint has no endpoint.')
      const request = requestWith(changes)
      const replies: Reply[] = []
      const input = endpoint.start(request)
      const onReply = (reply: Reply) => void replies.push(reply)
      const end = await runs.run({ flow: endpoint.flow, blueprint, input, request, onReply })
      return { end, replies }
    },
    async work() {
      const worked: Worked[] = []
      for (;;) {
        const claimed = await database.capabilities.jobs.claim({ owner: 'test', leaseMs: 60_000, limit: 10 })
        if (claimed.length === 0) return worked
        for (const job of claimed) worked.push(await attempt(job))
      }
    },
    documents,
    async logged() {
      await flows.log.flush()
      return (await documents(systemStorages.systemLogs)).map(({ message }) => String(message))
    },
    async close() {
      closeEvents()
      closeAwaited()
      await flows.close()
      await fixture.close()
    },
  }
}

/** Changes the block that holds this text, and deploys. */
export async function redeploy(
  { flows }: Pick<JobFixture, 'flows'>,
  blueprint: string,
  text: string,
  change: (content: JsonObject) => JsonObject,
): Promise<void> {
  const { records, catalogue, deployments } = flows
  const all = await blockRecords(records.database.session(), blueprint)
  const block = all.find((one) => JSON.stringify(one).includes(text)) ?? {}
  const { update_hash: hash } = isJsonObject(block._meta) ? block._meta : {}
  const content = records.readContent(change({ ...records.readContent(block) }))
  const edit = { guid: guidOf(block), update_hash: textIn(hash), content }
  await stageEdits(records, catalogue, blueprint, [edit], ada)
  await saveStaged(records, blueprint, ada)
  await deployments.deploy(blueprint, { ...ada, mayTakeAccountPages: true, lacks: () => false })
}
