import { PassThrough } from 'node:stream'
import type { FastifyContextConfig } from 'fastify'
import { Type } from 'typebox'
import type { Identity } from '../../../access/identity-cache.ts'
import { holds } from '../../../access/scopes.ts'
import type { Applications } from '../../../applications/applications.ts'
import { type Drafts, missingScope, type ReadDraft } from '../../../applications/drafts.ts'
import type { PendingPushes } from '../../../applications/pending-pushes.ts'
import {
  MOST_APPLICATION_BYTES,
  planSchema,
  preparingSchema,
  releasedSchema,
  testedSchema,
} from '../../../shared/api/blueprints/applications.ts'
import {
  assistantSchema,
  blueprintDraftSchema,
  type DescribeEnd,
  type DescribeLine,
  describeResponse,
  describeSchema,
  draftSchema,
  editDraftSchema,
  pushDraftSchema,
  removedDraftSchema,
  tryDraftSchema,
  wholeDraftSchema,
} from '../../../shared/api/blueprints/drafts.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { folderScopes, readScopes } from '../../../shared/management-scopes.ts'
import { guidOf, textIn, textsIn, updateHashOf } from '../../../storage/document-fields.ts'
import { callerOf, requireScope } from '../../server/authenticate.ts'
import type { App, RouteFamily, RouteTools } from '../../server/route-family.ts'
import { leftBy } from '../search-reply.ts'
import {
  aboutTests,
  actorIn,
  publisherOf,
  pushOptions,
  replyToPush,
  shownPlan,
  updatedAt,
} from './applications.ts'

const tags = ['Applications']
const folder = '/_system/drafts'

interface Described {
  readonly application: string
  readonly text: string
}

/** What drafts for people: see `agents/describe.ts`. */
export interface Assistant {
  /** Undefined where there is none. */
  model(): string | undefined
  /** Throws where it cannot begin. */
  begin(caller: Identity): (
    described: Described,
    as: {
      readonly sendAs: RouteTools['sendAs']
      readonly ip: string
      readonly signal: AbortSignal
      readonly say: (line: DescribeLine) => void
    },
  ) => Promise<DescribeEnd>
}

/** Changes of applications that are not released: see `applications/drafts.ts`. */
export function draftRoutes(drafts: Drafts, applications: Applications, pushes: PendingPushes): RouteFamily {
  return (app) => {
    editRoute(app, drafts)
    readRoutes(app, drafts)
    blueprintDraftsRoute(app, drafts)
    planRoute(app, drafts, applications)
    testRoutes(app, drafts, applications)
    pushRoute(app, drafts, pushes)
    removeRoute(app, drafts)
  }
}

const assistantPath = '/_system/assistant'

/** `failed`: for faults of ours. */
export function assistantRoutes(assistant: Assistant, failed: (error: unknown) => void): RouteFamily {
  return (app, tools) => {
    app.get(
      assistantPath,
      {
        config: { permission: 'signed-in' },
        schema: {
          operationId: 'getAssistant',
          summary: 'Whether the caller may describe what is needed to a model',
          tags: ['Agents'],
          response: { 200: assistantSchema },
        },
      },
      async (request) => {
        const model = assistant.model()
        return model !== undefined && holds(callerOf(request).scopes, 'assistant_use')
          ? { on: true, model }
          : { on: false, model: '' }
      },
    )
    describeRoute(app, tools, assistant, failed)
  }
}

function describeRoute(
  app: App,
  tools: RouteTools,
  assistant: Assistant,
  failed: (error: unknown) => void,
): void {
  const closing = new AbortController()
  app.addHook('preClose', (done) => {
    closing.abort()
    done()
  })
  app.post(
    assistantPath,
    {
      config: {
        permission: 'assistant_use',
        alsoNeeds: ['drafts_create', 'drafts_view', ...folderScopes],
        bodyBytes: 524_288,
        errors: ['CONFLICT', 'RATE_LIMITED'],
        entityTag: false,
      },
      schema: {
        operationId: 'describeNeed',
        summary: 'Have a model draft what is described',
        description:
          'The model of `QUOIN_ASSISTANT_CONNECTION` changes the draft of the assistant of the caller, and nothing else, with the rights of the caller. The reply is NDJSON, a line for each step; closing the connection cancels. At most 40 requests to the model and five minutes; one at a time for each user. 409 where there is no assistant.',
        tags: ['Agents'],
        body: describeSchema,
        response: { 200: describeResponse },
      },
    },
    async (request, reply) => {
      const work = assistant.begin(callerOf(request))
      // Few and short: they do not wait for the reader, so that one who does not read keeps no place.
      const lines = new PassThrough()
      const say = (line: DescribeLine) => {
        if (!lines.destroyed) lines.write(`${JSON.stringify(line)}\n`)
      }
      const signal = AbortSignal.any([leftBy(reply), closing.signal])
      void work(request.body, { sendAs: tools.sendAs, ip: request.ip, signal, say })
        .catch((error: unknown) => {
          failed(error)
          const problem = 'It failed. The system log says why.'
          return { problem, rounds: 0, tokens: 0, cost: 0, draft: null }
        })
        .then((end) => {
          say({ end })
          lines.end()
        })
      return reply.type('application/x-ndjson; charset=utf-8').send(lines)
    },
  )
}

function shown(record: JsonObject) {
  const { name, agent = '', paths, _meta, created_by: author } = record
  return {
    guid: guidOf(record),
    application: textIn(name),
    author: actorIn(author),
    agent: textIn(agent),
    paths: [...textsIn(paths)],
    updated: updatedAt(_meta),
  }
}

function editRoute(app: App, drafts: Drafts): void {
  app.post(
    folder,
    {
      config: {
        permission: 'drafts_create',
        alsoNeeds: [...folderScopes],
        bodyBytes: MOST_APPLICATION_BYTES,
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'editDraft',
        summary: "Change files of the caller's draft of an application",
        description:
          'Begins the draft where there is none. Nothing goes live. A user has one draft of each application, and so has each API key.',
        tags,
        body: editDraftSchema,
        response: { 200: draftSchema },
      },
    },
    async (request) => {
      const { application, changes } = request.body
      return shown(await drafts.edit(application, changes, callerOf(request)))
    },
  )
}

function readRoutes(app: App, drafts: Drafts): void {
  app.get(
    folder,
    {
      config: { permission: 'drafts_view' },
      schema: {
        operationId: 'listDrafts',
        summary: 'List drafts of applications',
        description: 'An API key gets its own, at most 50; a user gets all, at most 1,000.',
        tags,
        response: { 200: Type.Array(draftSchema) },
      },
    },
    async (request) => (await drafts.list(callerOf(request))).map(shown),
  )
  app.get(
    `${folder}/:guid`,
    {
      config: { permission: 'drafts_view', alsoNeeds: [...readScopes] },
      schema: {
        operationId: 'readDraft',
        summary: 'A draft with its files, changes and problems',
        tags,
        params: guidParams,
        response: { 200: wholeDraftSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const draft = await drafts.read(request.params.guid, caller)
      const { record, files, live, changes, conflicts, problems } = draft
      const mayBeSeen = (path: string) => missingScope(path, caller) === undefined
      return {
        ...shown(record),
        files: Object.fromEntries([...files].filter(([path]) => mayBeSeen(path))),
        live: Object.fromEntries(live),
        changes: [...changes],
        conflicts: [...conflicts],
        problems: problems.filter(({ file }) => mayBeSeen(file)),
      }
    },
  )
}

function blueprintDraftsRoute(app: App, drafts: Drafts): void {
  app.get(
    '/blueprints/:guid/drafts',
    {
      config: { permission: 'drafts_view', alsoNeeds: [...readScopes] },
      schema: {
        operationId: 'listBlueprintDrafts',
        summary: 'Drafts that change a blueprint, with the blocks that they change',
        description:
          'Those that the caller sees, at most 20, the last changed first. None for a blueprint of its own: drafts are of applications.',
        tags,
        params: guidParams,
        response: { 200: Type.Array(blueprintDraftSchema) },
      },
    },
    async (request) => {
      const found = await drafts.ofBlueprint(request.params.guid, callerOf(request))
      return found.map(({ record, blocks, created }) => ({ ...shown(record), blocks: [...blocks], created }))
    },
  )
}

function planRoute(app: App, drafts: Drafts, applications: Applications): void {
  app.post(
    `${folder}/:guid/plan`,
    {
      config: { permission: 'drafts_view', alsoNeeds: [...readScopes], errors: ['CONFLICT'] },
      schema: {
        operationId: 'planDraft',
        summary: 'What a push of a draft would do',
        description:
          'Changes nothing. 409 for a draft with conflicts or problems; `details` lists them. `state` is that of the cluster and of the draft.',
        tags,
        params: guidParams,
        response: { 200: planSchema },
      },
    },
    async (request) => {
      const draft = await drafts.read(request.params.guid, callerOf(request))
      const plan = await applications.plan(pushable(draft), publisherOf(request))
      return { ...shownPlan(plan, callerOf(request)), state: `${plan.state}.${updateHashOf(draft.record)}` }
    },
  )
}

const runsTests = {
  permission: 'drafts_view',
  alsoNeeds: [...readScopes],
  errors: ['RATE_LIMITED', 'VALIDATION_FAILED'],
  entityTag: false,
} satisfies FastifyContextConfig

function testRoutes(app: App, drafts: Drafts, applications: Applications): void {
  app.post(
    `${folder}/:guid/test`,
    {
      config: runsTests,
      schema: {
        operationId: 'testDraft',
        summary: 'Run the tests of a draft',
        description: aboutTests,
        tags,
        params: guidParams,
        response: { 200: testedSchema },
      },
    },
    async (request, reply) => {
      const { application, files } = await drafts.read(request.params.guid, callerOf(request))
      return applications.test(application, files, leftBy(reply))
    },
  )
  app.post(
    `${folder}/:guid/try`,
    {
      config: { ...runsTests, bodyBytes: 'setting' },
      schema: {
        operationId: 'tryDraft',
        summary: 'Do the steps of a test on a draft, and see what each block got and gave',
        description: aboutTests,
        tags,
        params: guidParams,
        body: tryDraftSchema,
        response: { 200: testedSchema },
      },
    },
    async (request, reply) => {
      const { application, files } = await drafts.read(request.params.guid, callerOf(request))
      const others = [...files].filter(([path]) => !path.startsWith('tests/'))
      const test = JSON.stringify({ name: 'try', ...request.body })
      return applications.test(application, new Map([...others, [TRIED, test]]), leftBy(reply), true)
    },
  )
}

const TRIED = 'tests/try.test.json'

function pushRoute(app: App, drafts: Drafts, pushes: PendingPushes): void {
  app.post(
    `${folder}/:guid/push`,
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: ['drafts_view', ...folderScopes],
        confirmed: true,
        errors: ['CONFLICT', 'VALIDATION_FAILED'],
      },
      schema: {
        operationId: 'pushDraft',
        summary: 'Push a draft as one release, and remove it',
        description:
          'As a push of the application; 202 while stored values follow a renamed field, or a second user must approve it. An API key also needs `agents_deploy`: without it a person pushes what an agent has drafted.',
        tags,
        params: guidParams,
        body: pushDraftSchema,
        response: { 200: releasedSchema, 202: preparingSchema },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      if (caller.key !== undefined) requireScope(caller, 'agents_deploy')
      const draft = await drafts.read(request.params.guid, caller)
      const hash = updateHashOf(draft.record)
      const state = stateOfCluster(request.body.state, hash)
      const agent = textIn(draft.record.agent)
      const pushed = { guid: request.params.guid, updateHash: hash }
      const by = { ...publisherOf(request), ...(agent !== '' && { agent }), draft: pushed }
      const released = await pushes.push(pushable(draft), pushOptions({ ...request.body, state }), by)
      return replyToPush(reply, released, caller)
    },
  )
}

function removeRoute(app: App, drafts: Drafts): void {
  app.delete(
    `${folder}/:guid`,
    {
      config: { permission: 'drafts_remove' },
      schema: {
        operationId: 'removeDraft',
        summary: 'Remove a draft: takes all of its changes back',
        tags,
        params: guidParams,
        response: { 200: removedDraftSchema },
      },
    },
    async (request) => {
      await drafts.remove(request.params.guid, callerOf(request))
      return { removed: true as const }
    },
  )
}

/** Of the state of a plan of a draft, which is that of the cluster and of the draft: what is pushed is what a person has read. */
function stateOfCluster(state: string, hash: string): string {
  if (!state.endsWith(`.${hash}`))
    throw new QuoinError(
      'CONFLICT',
      'The draft was changed since this plan. Plan it again, and read what it does.',
    )
  return state.slice(0, -hash.length - 1)
}

/** CONFLICT for a draft that would write over changes of others, or whose files do not check. */
function pushable({ application, conflicts, problems }: ReadDraft): JsonObject {
  if (conflicts.length > 0)
    throw new QuoinError(
      'CONFLICT',
      `The cluster has changed ${conflicts.join(', ')} since the draft did. Read these files again, and send their whole text.`,
      { details: { conflicts: [...conflicts] } },
    )
  const wrong = problems.filter(({ warning }) => warning === undefined)
  if (wrong.length > 0) {
    const lines = wrong.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)
    throw new QuoinError('CONFLICT', `The draft has ${lines.length} problems. The first: ${lines[0]}`, {
      details: { problems: lines.slice(0, 1_000) },
    })
  }
  return { ...application }
}
