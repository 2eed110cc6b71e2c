import { type Static, Type } from 'typebox'
import { APPLICATION_NAME } from '../../application/application.ts'
import { actorSchema, anyJson } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'
import { compareRunsSchema } from './runs.ts'

/** Of the body with an application: parsing it takes 30 ms. A thousand blocks have half a megabyte. */
export const MOST_APPLICATION_BYTES = 4 * 1024 * 1024

const name = Type.String({ pattern: APPLICATION_NAME, description: 'Of the application.' })
export const applicationParams = Type.Object({ name })
export const releaseParams = Type.Object({ name, number: Type.Integer({ minimum: 1 }) })

export const applicationListQuery = Type.Object(
  {
    blueprint: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Guid of a blueprint: only the application that it belongs to.',
      }),
    ),
  },
  { additionalProperties: false },
)

const map = (description: string) => Type.Record(Type.String(), anyJson(), { description })

/** The value that the files of a folder make up; docs/applications.md has the files. */
export const applicationSchema = Type.Object(
  {
    about: map('`quoin.json`: `name`, `title`, `version`, `needs` and others.'),
    blueprints: map('By the name of the file: a blueprint file without its parts.'),
    storages: map('By name: settings, and `fields` by name.'),
    groups: map('By name.'),
    templates: map('By the name of the file: `name`, `description`, `content`, `css`, `js`.'),
    texts: Type.Optional(map('By language: texts by key.')),
    connections: Type.Optional(map('By name: `base_url`, `auth`, `headers`, `description`.')),
    alerts: Type.Optional(map('By name.')),
    views: Type.Optional(map('Shared views by name: `storage` and `address`.')),
    queues: Type.Optional(map('By name: `concurrency`.')),
    seed: map('By storage: `documents`.'),
    tests: map('By the name of the file. They stay with the release.'),
  },
  { additionalProperties: false },
)

export const planRequestSchema = Type.Object(
  { application: applicationSchema },
  { additionalProperties: false },
)

export const pushRequestSchema = Type.Object(
  {
    application: applicationSchema,
    state: Type.String({
      description: 'Of the plan that is pushed: 409 where the cluster was changed since.',
    }),
    allow_loss: Type.Optional(
      Type.Boolean({ description: 'Also where documents or memberships of groups are lost.' }),
    ),
    move_waits: Type.Optional(
      Type.Boolean({
        description:
          'Runs that wait continue on the new release where its blocks fit; needs `waits_update`. Default: false.',
      }),
    ),
    verify: Type.Optional(
      Type.Object(
        {
          runs: compareRunsSchema.properties.runs,
          accepted: compareRunsSchema.properties.accepted,
        },
        {
          additionalProperties: false,
          description:
            'Traced runs of the changed blueprints are repeated on the old and the new blocks first; 409 with `details.differences` where they differ. Needs `runs_view`.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

export const removalRequestSchema = Type.Object(
  {
    state: Type.String({ description: 'Of the plan of the removal.' }),
    allow_loss: pushRequestSchema.properties.allow_loss,
  },
  { additionalProperties: false },
)

const lines = (description: string) => Type.Array(Type.String(), { description })

const planned = {
  application: Type.String(),
  release: Type.Integer({ description: 'The number that the release has or will have.' }),
  state: Type.String({ description: 'Of the cluster, as far as the plan depends on it.' }),
  steps: lines('What changes, in the order in which it happens.'),
  values: Type.Array(
    Type.Object({
      step: Type.String({ description: 'The line of `steps`.' }),
      lines: Type.Array(
        Type.Object({
          what: Type.String({ description: 'Such as `block reply, in › status`.' }),
          before: Type.String({ description: 'Cut around the first difference. Empty: there was none.' }),
          after: Type.String(),
        }),
      ),
      is_cut: Type.Boolean({
        description: 'There are more: 20 of a block or field are listed, 300 of a plan.',
      }),
    }),
    {
      description:
        'What changed objects have other than before, as far as the caller may see them; secret values are dots. Empty in lists.',
    },
  ),
  refused: lines('Why it cannot be pushed.'),
  lost: lines('What is gone afterwards; needs `allow_loss`.'),
  breaking: lines('Endpoints and pages that are gone or admit others than before.'),
  missing: lines('Values of the environment, secrets and connections that are not there.'),
  warnings: lines('What its builder should know.'),
  movable_waits: Type.Integer({
    description: 'Runs that wait and fit the new blocks: `move_waits` moves them.',
  }),
}

const verified = Type.Array(
  Type.Object({
    file: Type.String({ description: 'Such as `blueprints/deals.json`.' }),
    compared: Type.Integer({ description: 'Runs that were repeated on both. 0: nothing was verified.' }),
    same: Type.Integer(),
    accepted: Type.Array(Type.String(), { description: 'Keys of differences that were accepted.' }),
    remembered: Type.Integer({ description: 'Differences that were accepted for this deploy before.' }),
    skipped: Type.Integer({ description: 'Runs that cannot be repeated.' }),
    left: Type.Integer({ description: 'Runs for which there was no time: 20 seconds for a push.' }),
    slower: Type.Array(
      Type.Object({
        block: Type.String({ description: 'Its name.' }),
        deployed_us: Type.Integer({ description: 'Microseconds, the median.' }),
        candidate_us: Type.Integer(),
      }),
      { description: 'Blocks that take at least twice as long as the deployed ones. They refuse nothing.' },
    ),
  }),
  { description: 'Of a push with `verify`: one for each blueprint that it changes.' },
)

export const planSchema = Type.Object(planned)
export type ReleasePlan = Wire<typeof planSchema>
export const releasedSchema = Type.Object({
  ...planned,
  problems: lines(
    'What was refused once the release was live: first documents, and waits that were to be moved.',
  ),
  moved_waits: Type.Integer({ description: 'Runs that waited and continue on this release.' }),
  verified: Type.Optional(verified),
})
export type Released = Wire<typeof releasedSchema>

export const pushSchema = Type.Object({
  guid: Type.String(),
  application: planned.application,
  release: planned.release,
  status: Type.Enum(['waiting', 'approved', 'released', 'rejected', 'withdrawn', 'expired', 'outdated'], {
    description:
      'approved: stored values follow before it is released. outdated: the cluster was changed since, and the push is over.',
  }),
  is_removal: Type.Boolean({ description: 'The application is to be removed.' }),
  allow_loss: Type.Boolean(),
  move_waits: Type.Boolean(),
  plan: planSchema,
  verified: Type.Optional(verified),
  by: actorSchema,
  agent: Type.String({ description: 'Name of the API key whose draft it is; else empty.' }),
  created: Type.Integer({ description: 'Unix seconds.' }),
  until: Type.Integer({ description: 'Unix seconds: when it expires without a decision.' }),
  decided_by: Type.Union([actorSchema, Type.Null()]),
  comment: Type.String({ description: 'Of who rejected it.' }),
})
export type Push = Wire<typeof pushSchema>

export const approvePushSchema = Type.Object(
  {
    state: Type.String({ description: 'Of the plan that is approved: 409 where the push has another one.' }),
  },
  { additionalProperties: false },
)

export const rejectPushSchema = Type.Object(
  { comment: Type.Optional(Type.String({ maxLength: 2_000, description: 'For its author.' })) },
  { additionalProperties: false },
)

export const testReleaseQuery = Type.Object(
  {
    tests_of: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'A release whose tests are run on this one: two releases are compared by the same tests.',
      }),
    ),
  },
  { additionalProperties: false },
)

const tracedRun = Type.Object({
  blueprint: Type.String({ description: 'Its name.' }),
  label: Type.String({ description: 'Such as `GET tasks/:id`.' }),
  status: Type.String(),
  error: anyJson('`{ code, message, block }` when it failed, else null.'),
  steps: Type.Array(Type.Record(Type.String(), anyJson()), {
    description:
      'What the last blocks got (`in`) and gave (`out`), by name, as traces mask it; `error`: why one failed.',
  }),
})
export type TracedRun = Static<typeof tracedRun>

const tested = {
  passed: Type.Boolean(),
  results: Type.Array(
    Type.Object({
      name: Type.String(),
      file: Type.String(),
      failures: Type.Array(Type.String()),
      milliseconds: Type.Number(),
      score: Type.Optional(Type.Number({ description: 'Of an evaluation: mean of its cases, from 0 to 1.' })),
      cases: Type.Optional(
        Type.Array(
          Type.Object({
            case: Type.String(),
            score: Type.Number(),
            problem: Type.Optional(Type.String({ description: 'Why it has no score of its own.' })),
          }),
        ),
      ),
      trace: Type.Optional(
        Type.Array(tracedRun, {
          description:
            'Of the first ten tests that failed: the last runs and those that failed, at most 40 blocks.',
        }),
      ),
      answers: Type.Optional(
        Type.Array(anyJson(), { description: 'Of a try: status, content type and body of each step.' }),
      ),
      runs: Type.Optional(
        Type.Array(anyJson(), {
          description:
            'Of a try: the runs, the oldest first, with what each block got and gave; blocks by their names.',
        }),
      ),
    }),
  ),
}
export const testedSchema = Type.Object(tested)
export type Tested = Static<typeof testedSchema>

const wayOf = { pin: Type.String({ description: 'Empty: the block is an end.' }), taken: Type.Boolean() }

/** As `quoin test --coverage-out` writes it: names in place of guids. */
export const coveredBlueprintSchema = Type.Object({
  name: Type.String(),
  blocks: Type.Array(
    Type.Object({ block: Type.String(), ran: Type.Boolean(), ways: Type.Array(Type.Object(wayOf)) }),
  ),
})
export type CoveredBlueprint = Static<typeof coveredBlueprintSchema>

/** Tests that are not in the files of the application, and all tests of one run. */
const MOST_SENT_TESTS = 50

const testFile = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,99}$', description: 'Such as `large-order`.' })

export const testBlueprintSchema = Type.Object(
  {
    tests: Type.Optional(
      Type.Record(testFile, anyJson(), {
        maxProperties: MOST_SENT_TESTS,
        additionalProperties: false,
        description:
          'Content of further files `tests/NAME.test.json`, by name. One of a name that the application has takes its place.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const blueprintTestsSchema = Type.Object({
  application: Type.String({ description: 'That the blueprint belongs to; empty: none.' }),
  tests: Type.Array(Type.Object({ name: Type.String(), file: Type.String(), steps: Type.Integer() })),
})
export type BlueprintTests = Static<typeof blueprintTestsSchema>

export const testedBlueprintSchema = Type.Object({
  ...tested,
  coverage: Type.Object(
    {
      ways: Type.Integer(),
      taken: Type.Integer(),
      blocks: Type.Array(
        Type.Object({
          block: Type.String({ description: 'Its guid.' }),
          ran: Type.Boolean(),
          ways: Type.Array(Type.Object(wayOf)),
        }),
      ),
    },
    {
      description:
        'Of this blueprint, by all of the tests. A way is a flow out-pin that is wired. Blocks that only give values are not in it.',
    },
  ),
})
export type TestedBlueprint = Static<typeof testedBlueprintSchema>

export const preparingSchema = Type.Object({
  application: planned.application,
  release: planned.release,
  preparing: Type.Array(
    Type.Object({
      storage: Type.String(),
      field: Type.String({ description: 'The new name.' }),
      job: Type.String({ description: 'The guid of the job that copies values.' }),
      documents: Type.Integer({ description: 'That have a value.' }),
      done: Type.Integer({ description: 'How many of them the job has gone through.' }),
    }),
  ),
  waiting: Type.Optional(pushSchema),
  verified: Type.Optional(verified),
})

export type Preparing = Wire<typeof preparingSchema>

export const applicationRecordSchema = Type.Object({
  name: Type.String(),
  title: Type.String(),
  version: Type.String(),
  release: Type.Integer({ description: 'The number of the present release.' }),
  released: Type.Integer({ description: 'Unix seconds of that release.' }),
  modified_by: actorSchema,
})

export type ApplicationRecord = Wire<typeof applicationRecordSchema>

export const releaseSchema = Type.Object({
  number: Type.Integer(),
  title: Type.String(),
  version: Type.String(),
  released: Type.Integer({ description: 'Unix seconds.' }),
  by: actorSchema,
  steps: lines('What it changed.'),
  lost: lines('What it removed with its documents.'),
})
export type Release = Wire<typeof releaseSchema>

// An application beside the live one.

const PREVIEW_NAME = '^[a-z][a-z0-9-]{0,39}$'

const previewName = Type.String({
  pattern: PREVIEW_NAME,
  description: 'Small letters, digits and -: `feature-x` is reached below `/~feature-x/`.',
})
export const previewParams = Type.Object({ name: previewName })

/** A month, and documents of one storage that are copied: a push takes 4 MiB. */
const MOST_PREVIEW_HOURS = 720
const MOST_COPIED = 1_000

export const previewRequestSchema = Type.Object(
  {
    name: previewName,
    application: applicationSchema,
    hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_PREVIEW_HOURS,
        description: 'From now on; then it is removed. Default: 24.',
      }),
    ),
    copy: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MOST_COPIED,
        description:
          'So many of the newest documents of each storage, as the caller sees them and with secret names masked as in traces, in place of first documents. Only into a new preview. Default: 0.',
      }),
    ),
    outside: Type.Optional(
      Type.Boolean({
        description:
          'May call other servers and send mails. Default: false. CONFLICT where pushes of the application need a second person.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type PreviewRequest = Wire<typeof previewRequestSchema>

const preview = {
  name: Type.String(),
  application: Type.String(),
  path: Type.String({ description: 'Such as `/~feature-x/`.' }),
  state: Type.Enum(['creating', 'active', 'suspended', 'removing']),
  until: Type.Integer({ description: 'Unix seconds: when it is removed.' }),
  outside: Type.Boolean(),
  by: actorSchema,
}
export const previewSchema = Type.Object(preview)
export type Preview = Wire<typeof previewSchema>

export const madePreviewSchema = Type.Object({
  ...preview,
  release: Type.Integer(),
  accounts: Type.Array(
    Type.Object({ username: Type.String(), group: Type.String({ description: 'Empty: all scopes.' }) }),
    { description: 'One for each group of the application, and `admin`. Empty where the preview was there.' },
  ),
  password: Type.Union([Type.String(), Type.Null()], {
    description: 'Of all accounts, shown once; null where the preview was there.',
  }),
  copied: Type.Integer({ description: 'Documents that were copied.' }),
  missing: Type.Array(Type.String(), { description: 'Secrets, connections and values that are not there.' }),
  problems: Type.Array(Type.String(), { description: 'First documents that were refused.' }),
})
export type MadePreview = Wire<typeof madePreviewSchema>
