import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Identity } from '../../../access/identity-cache.ts'
import { holds } from '../../../access/scopes.ts'
import type { Applications } from '../../../applications/applications.ts'
import type { Publisher } from '../../../applications/apply-release.ts'
import { partsWithScopes } from '../../../applications/drafts.ts'
import type {
  ApplicationPlan,
  Preparing,
  PushOptions,
  Released,
} from '../../../applications/known-application.ts'
import type { PendingPushes, Waiting } from '../../../applications/pending-pushes.ts'
import { type DrawnBlueprint, ownedObjectsIn } from '../../../applications/present-application.ts'
import type { PendingPush } from '../../../applications/stored-pushes.ts'
import {
  applicationListQuery,
  applicationParams,
  applicationRecordSchema,
  applicationSchema,
  blueprintTestsSchema,
  type CoveredBlueprint,
  MOST_APPLICATION_BYTES,
  planRequestSchema,
  planSchema,
  preparingSchema,
  pushRequestSchema,
  releasedSchema,
  releaseParams,
  releaseSchema,
  removalRequestSchema,
  testBlueprintSchema,
  testedBlueprintSchema,
  testedSchema,
  testReleaseQuery,
} from '../../../shared/api/blueprints/applications.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { type Application, normalSteps } from '../../../shared/application/application.ts'
import { testAndCases, writingSteps } from '../../../shared/application/application-files.ts'
import { runCooperatively } from '../../../shared/cooperative.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json.ts'
import { folderScopes, readScopes } from '../../../shared/management-scopes.ts'
import { numberIn, textIn } from '../../../storage/document-fields.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, deployerOf, leftBy } from '../search-reply.ts'

const tags = ['Applications']

/** Applications as a whole: their folders, plans and releases. */
export function applicationRoutes(applications: Applications, pushes: PendingPushes): RouteFamily {
  return (app) => {
    listRoutes(app, applications)
    contentRoutes(app, applications)
    testRoute(app, applications)
    listTestsRoute(app, applications)
    testBlueprintRoute(app, applications)
    planRoute(app, applications)
    pushRoute(app, pushes)
    removalRoutes(app, applications, pushes)
  }
}

export function publisherOf(request: FastifyRequest): Publisher {
  const identity = callerOf(request)
  return {
    identity,
    actor: actorOf(request),
    deployer: deployerOf(request),
    mayScript: holds(identity.scopes, 'blueprinttemplates_script'),
  }
}

function listRoutes(app: App, applications: Applications): void {
  app.get(
    '/_system/applications',
    {
      config: { permission: 'applications_view' },
      schema: {
        operationId: 'listApplications',
        summary: 'List applications',
        tags,
        querystring: applicationListQuery,
        response: { 200: Type.Array(applicationRecordSchema) },
      },
    },
    async ({ query: { blueprint } }) => {
      const all = await applications.list()
      return (blueprint === undefined ? all : all.filter((one) => owns(one, blueprint))).map(shownRecord)
    },
  )
  app.get(
    '/_system/applications/:name/releases',
    {
      config: { permission: 'applications_view' },
      schema: {
        operationId: 'listReleases',
        summary: 'Releases of an application',
        description: 'The newest first, at most 1,000.',
        tags,
        params: applicationParams,
        response: { 200: Type.Array(releaseSchema) },
      },
    },
    async (request) => (await applications.releases(request.params.name)).map(shownRelease),
  )
}

function owns({ objects }: JsonObject, blueprint: string): boolean {
  return Object.values(ownedObjectsIn(objects).blueprints).includes(blueprint)
}

function shownRecord(record: JsonObject) {
  const { _meta, name, title = '', version = '', release, modified_by: by } = record
  return {
    name: String(name),
    title: String(title),
    version: String(version),
    release: numberIn(release),
    released: updatedAt(_meta),
    modified_by: actorIn(by),
  }
}

function shownRelease({ _meta, number, title = '', version = '', by, steps, lost }: JsonObject) {
  return {
    number: numberIn(number),
    title: String(title),
    version: String(version),
    released: isJsonObject(_meta) ? numberIn(_meta.created) : 0,
    by: actorIn(by),
    steps: textsOf(steps),
    lost: textsOf(lost),
  }
}

function textsOf(list: JsonObject[string] | undefined): string[] {
  return Array.isArray(list) ? list.map(String) : []
}

/** Unix seconds at which a record was last written. */
export function updatedAt(meta: JsonObject[string] | undefined): number {
  return isJsonObject(meta) ? numberIn(meta.updated) : 0
}

export function actorIn(by: JsonObject[string] | undefined) {
  const { guid = '', username = '' } = isJsonObject(by) ? by : {}
  return { guid: String(guid), username: String(username) }
}

function contentRoutes(app: App, applications: Applications): void {
  app.get(
    '/_system/applications/:name/content',
    {
      config: { permission: 'applications_view', alsoNeeds: [...readScopes] },
      schema: {
        operationId: 'readApplication',
        summary: 'An application as its folder has it',
        description: 'As the cluster has it now, also where the studio changed it since its release.',
        tags,
        params: applicationParams,
        response: { 200: applicationSchema },
      },
    },
    async (request) => shownContent(await applications.read(request.params.name), callerOf(request)),
  )
  app.get(
    '/_system/applications/:name/releases/:number/content',
    {
      config: { permission: 'applications_view', alsoNeeds: [...readScopes] },
      schema: {
        operationId: 'readRelease',
        summary: 'What a release holds, to push it again',
        description: 'With the storages of later releases that hold documents: they stay.',
        tags,
        params: releaseParams,
        response: { 200: applicationSchema },
      },
    },
    async (request) =>
      shownContent(await applications.former(request.params.name, request.params.number), callerOf(request)),
  )
}

export const aboutTests =
  'As `quoin test` does: each in a cluster of its own in memory, in a process of its own, for at most 60 s. No data of this cluster is read or changed, and nothing is sent: models and other servers answer from the replies in the tests. One run at a time on a node: 429 while one is under way. 422 where the tests cannot be run.'

function testRoute(app: App, applications: Applications): void {
  app.post(
    '/_system/applications/:name/releases/:number/test',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: ['applications_view', ...readScopes],
        errors: ['RATE_LIMITED', 'VALIDATION_FAILED'],
        entityTag: false,
      },
      schema: {
        operationId: 'testRelease',
        summary: 'Run the tests of a release, or those of another release on it',
        description: aboutTests,
        tags,
        params: releaseParams,
        querystring: testReleaseQuery,
        response: { 200: testedSchema },
      },
    },
    async (request, reply) => {
      const { name, number } = request.params
      const contentOf = async (release: number) =>
        shownContent(await applications.former(name, release), callerOf(request))
      const release = await contentOf(number)
      const { tests } = await contentOf(request.query.tests_of ?? number)
      const files = await runCooperatively(writingSteps({ ...release, tests }))
      return applications.test(release, files, leftBy(reply))
    },
  )
}

function listTestsRoute(app: App, applications: Applications): void {
  app.get(
    '/blueprints/:guid/tests',
    {
      config: { permission: 'applications_view', alsoNeeds: [...readScopes] },
      schema: {
        operationId: 'listBlueprintTests',
        summary: 'Tests of the application that a blueprint belongs to',
        description:
          'Those of its release, the files `tests/NAME.test.json`. None for a blueprint of its own.',
        tags,
        params: guidParams,
        response: { 200: blueprintTestsSchema },
      },
    },
    async (request) => {
      const { application, content } = await applications.drawn(request.params.guid)
      const tests = Object.entries(content.tests).flatMap(([file, object]) => {
        const { test } = testAndCases(object)
        if (!test) return []
        const { name, steps } = test
        return [{ name: textIn(name), file, steps: Array.isArray(steps) ? steps.length : 0 }]
      })
      return { application, tests }
    },
  )
}

function testBlueprintRoute(app: App, applications: Applications): void {
  app.post(
    '/blueprints/:guid/test',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: ['applications_view', ...readScopes],
        bodyOptional: true,
        errors: ['RATE_LIMITED', 'VALIDATION_FAILED'],
        entityTag: false,
      },
      schema: {
        operationId: 'testBlueprint',
        summary: 'Run tests on a blueprint as the canvas has it',
        description: `With all that is staged, beside the rest of its application, or with the storages, fields, groups and templates that its blocks use. ${aboutTests}`,
        tags,
        params: guidParams,
        body: testBlueprintSchema,
        response: { 200: testedBlueprintSchema },
      },
    },
    async (request, reply) => {
      const drawn = await applications.drawn(request.params.guid)
      const { about, ...content } = shownContent(drawn.content, callerOf(request))
      const tests = { ...content.tests, ...objectsNamed(request.body?.tests ?? {}) }
      const application = await runCooperatively(normalSteps({ about, ...content, tests }))
      const files = new Map(await runCooperatively(writingSteps(application)))
      if (drawn.file) {
        for (const path of files.keys()) if (!path.startsWith('tests/')) files.delete(path)
        files.set('drawn.blueprint.json', JSON.stringify(drawn.file))
      }
      const { coverage, ...tested } = await applications.test(application, files, leftBy(reply))
      return { ...tested, coverage: coverageOf(drawn, coverage) }
    },
  )
}

function objectsNamed(tests: JsonObject): JsonObject {
  for (const [name, test] of Object.entries(tests))
    if (!isJsonObject(test)) throw invalidField(`tests.${name}`, `tests.${name} must be an object.`)
  return tests
}

/** Of what is drawn: what files have another name for is no block of it. */
function coverageOf({ name, guids }: DrawnBlueprint, covered: readonly CoveredBlueprint[]) {
  const found = covered.find((one) => one.name === name)?.blocks ?? []
  const blocks = found.flatMap(({ block, ran, ways }) => {
    const guid = guids.get(block)
    return guid === undefined ? [] : [{ block: guid, ran, ways }]
  })
  const ways = blocks.flatMap((one) => one.ways)
  return { ways: ways.length, taken: ways.filter(({ taken }) => taken).length, blocks }
}

/** INSUFFICIENT_PERMISSIONS where it has what the caller may not see. */
export function shownContent(application: Application, { scopes }: Identity): Application {
  for (const [map, scope] of partsWithScopes)
    if (Object.keys(application[map]).length > 0 && !holds(scopes, scope))
      throw new QuoinError(
        'INSUFFICIENT_PERMISSIONS',
        `The scope ${scope} is missing: the application has ${map}.json.`,
      )
  return application
}

/** Who reads a plan: values are shown to those who may read what they are of. */
type Viewer = Pick<Identity, 'scopes'>

export function shownPlan({ application, release, state, ...plan }: ApplicationPlan, { scopes }: Viewer) {
  const { steps, values, refused, lost, breaking, missing, warnings, movableWaits } = plan
  const isSeen = (map: string) => {
    const [, more] = partsWithScopes.find(([part]) => part === map) ?? []
    return [...readScopes, ...(more === undefined ? [] : [more])].every((scope) => holds(scopes, scope))
  }
  return {
    ...{ application, release, state },
    values: values
      .filter(({ map }) => isSeen(map))
      .map(({ step, lines, isCut }) => ({ step, lines: [...lines], is_cut: isCut })),
    ...{ steps: [...steps], refused: [...refused], lost: [...lost], breaking: [...breaking] },
    ...{ missing: [...missing], warnings: [...warnings], movable_waits: movableWaits },
  }
}

/** 202 where it is not live yet. */
export function replyToPush<Sent>(
  reply: { status(code: 202): { send(body: ReturnType<typeof shownUnderWay>): Sent } },
  push: Released | Preparing | Waiting,
  viewer: Viewer,
): Sent | ReturnType<typeof shownReleased> {
  return 'problems' in push
    ? shownReleased(push, viewer)
    : reply.status(202).send(shownUnderWay(push, viewer))
}

function shownReleased({ problems, movedWaits, verified, ...plan }: Released, viewer: Viewer) {
  const shown = { ...shownPlan(plan, viewer), problems: [...problems], moved_waits: movedWaits }
  return { ...shown, ...(verified && { verified: verified.map(shownVerified) }) }
}

function shownVerified({ accepted, slower, ...verified }: NonNullable<Released['verified']>[number]) {
  return { ...verified, accepted: [...accepted], slower: [...slower] }
}

/** Of a push that is not live yet. */
function shownUnderWay(push: Preparing | Waiting, viewer: Viewer) {
  const { application, release } = push
  if ('waiting' in push) {
    const { waiting, verified } = push
    const shown = { application, release, preparing: [], waiting: shownPush(waiting, viewer) }
    return { ...shown, ...(verified && { verified: verified.map(shownVerified) }) }
  }
  return { application, release, preparing: [...push.preparing] }
}

export function shownPush(push: PendingPush, viewer: Viewer) {
  const { guid, application, release, status, isRemoval, allowLoss, plan, by, agent } = push
  return {
    ...{ guid, application, release, status, agent, by: { ...by }, comment: push.comment },
    ...{ is_removal: isRemoval, allow_loss: allowLoss, move_waits: push.moveWaits },
    plan: shownPlan(plan, viewer),
    ...(push.verified && { verified: push.verified.map(shownVerified) }),
    ...{ created: Math.floor(push.created / 1000), until: Math.floor(push.until / 1000) },
    decided_by: push.decidedBy ? { ...push.decidedBy } : null,
  }
}

function planRoute(app: App, applications: Applications): void {
  app.post(
    '/_system/applications/plan',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: [...folderScopes],
        bodyBytes: MOST_APPLICATION_BYTES,
        errors: ['CONFLICT'],
      },
      schema: {
        operationId: 'planRelease',
        summary: 'What a push of an application would do',
        description:
          'Changes nothing: everything is done in a transaction that is rolled back. 409 for an application that does not check; `details` lists each problem.',
        tags,
        body: planRequestSchema,
        response: { 200: planSchema },
      },
    },
    async (request) =>
      shownPlan(await applications.plan(request.body.application, publisherOf(request)), callerOf(request)),
  )
}

function pushRoute(app: App, pushes: PendingPushes): void {
  app.post(
    '/_system/applications/push',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: [...folderScopes],
        confirmed: true,
        bodyBytes: MOST_APPLICATION_BYTES,
        errors: ['CONFLICT', 'VALIDATION_FAILED'],
      },
      schema: {
        operationId: 'pushRelease',
        summary: 'Push an application as one release',
        description:
          'All or nothing, on all nodes. 202 while stored values follow a renamed field: the old release serves, and the same request again releases when they have. 202 with `waiting` where a second user must approve it (`QUOIN_PUSH_APPROVAL`): nothing is changed before. Needs also the scopes that its changes need one by one; the plan names those that are lacking. 409 where the cluster was changed since the plan, and with `verify` where recorded runs differ.',
        tags,
        body: pushRequestSchema,
        response: { 200: releasedSchema, 202: preparingSchema },
      },
    },
    async (request, reply) => {
      const { application, ...words } = request.body
      const options = pushOptions(words)
      return replyToPush(
        reply,
        await pushes.push(application, options, publisherOf(request)),
        callerOf(request),
      )
    },
  )
}

/** Also of the push of a draft. */
export function pushOptions({
  state,
  allow_loss: allowLoss = false,
  move_waits: moveWaits = false,
  verify,
}: Omit<Static<typeof pushRequestSchema>, 'application'>): PushOptions {
  const verification = verify && { runs: verify.runs ?? 50, accepted: verify.accepted ?? [] }
  return { state, allowLoss, moveWaits, ...(verification && { verify: verification }) }
}

function removalRoutes(app: App, applications: Applications, pushes: PendingPushes): void {
  app.get(
    '/_system/applications/:name/removal',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: [...folderScopes],
        errors: ['CONFLICT', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'planRemoval',
        summary: 'What the removal of an application would do',
        description: 'Changes nothing, as the plan of a push.',
        tags,
        params: applicationParams,
        response: { 200: planSchema },
      },
    },
    async (request) =>
      shownPlan(await applications.planRemoval(request.params.name, publisherOf(request)), callerOf(request)),
  )
  app.post(
    '/_system/applications/:name/remove',
    {
      config: {
        permission: 'applications_update',
        alsoNeeds: [...folderScopes],
        confirmed: true,
        errors: ['CONFLICT', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'removeApplication',
        summary: 'Remove an application',
        description:
          'All of its objects and its releases, all or nothing. Needs also the scopes that remove its objects one by one, and `allow_loss` where its storages have documents. 409 where the cluster was changed since the plan.',
        tags,
        params: applicationParams,
        body: removalRequestSchema,
        response: { 200: planSchema, 202: preparingSchema },
      },
    },
    async (request, reply) => {
      const { state, allow_loss: allowLoss = false } = request.body
      const { name } = request.params
      const removed = await pushes.remove(name, { state, allowLoss }, publisherOf(request))
      const viewer = callerOf(request)
      return 'state' in removed
        ? shownPlan(removed, viewer)
        : reply.status(202).send(shownUnderWay(removed, viewer))
    },
  )
}
