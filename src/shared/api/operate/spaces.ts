import { Type } from 'typebox'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

/** As a JSON schema wants it. */
const SPACE_NAME = '^[a-z][a-z0-9-]{0,62}$'
const HOST = '^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$'

export const spaceStates = ['creating', 'active', 'suspended', 'removing'] as const
export type SpaceState = (typeof spaceStates)[number]

const hosts = Type.Array(Type.String({ pattern: HOST }), {
  minItems: 1,
  maxItems: 16,
  uniqueItems: true,
  description:
    'Host names whose requests are for the space, in lower case and without a port. The first one is in its links, mails and sign-ins.',
})
const title = Type.String({
  maxLength: 100,
  description: 'How pages and mails call the space; empty: as the cluster.',
})

const quota = (what: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: `${what}; 0 = no limit.` })
const quotas = {
  documents: quota('Present documents of all its storages'),
  bytes: quota('Bytes of its database and of uploaded files, without backups'),
  runs_a_minute: quota('Runs in a minute, on each node: requests beyond them get 429'),
  jobs: quota('Jobs that wait or run'),
}
const quotasSchema = Type.Object(quotas)
export type SpaceQuotas = Wire<typeof quotasSchema>
const setQuotas = Type.Partial(quotasSchema, {
  additionalProperties: false,
  description: 'What the space may store and run. Those that are not given have no limit.',
})

export const spaceUsageSchema = Type.Object({
  documents: Type.Integer(),
  bytes: Type.Integer(),
  runs: Type.Integer({ description: 'Of this minute, on the node that replies.' }),
  jobs: Type.Integer(),
})
export type SpaceUsage = Wire<typeof spaceUsageSchema>

const guids = {
  run: Type.String({ description: 'Guid; empty where it was in none.' }),
  blueprint: Type.String({ description: 'Guid; empty where it was in none.' }),
  block: Type.String({ description: 'Guid; empty where it was at none.' }),
}
const seconds = Type.Integer({ description: 'Unix seconds.' })

export const spaceHealthSchema = Type.Object({
  health: Type.Enum(['open', 'closed', 'broken'], {
    description:
      '`broken`: it cannot be opened or read, or not deleted. `closed`: it is suspended, being made or being deleted.',
  }),
  error: Type.Union([Type.Object({ at: seconds, message: Type.String() }), Type.Null()], {
    description:
      'Why it could not be opened, read or deleted the last time, on the node that replies and since that node started; null if that never was so.',
  }),
  jobs: Type.Object({ waiting: Type.Integer(), running: Type.Integer(), dead: Type.Integer() }),
  failed_jobs: Type.Array(
    Type.Object({
      ...{ guid: Type.String(), queue: Type.String(), type: Type.String() },
      ...{ attempts: Type.Integer(), failed_at: seconds, ...guids },
    }),
    { description: 'Its newest 50 dead letters. Titles, data and errors are for users of the space.' },
  ),
  problems: Type.Array(
    Type.Object({ guid: Type.String(), level: Type.Enum(['warn', 'error']), at: seconds, ...guids }),
    {
      description:
        'The newest 50 warnings and errors of its system log. Their texts, which may have values of documents and requests, are for users of the space.',
    },
  ),
})
export type SpaceHealth = Wire<typeof spaceHealthSchema>

export const createSpaceSchema = Type.Object(
  {
    name: Type.String({
      pattern: SPACE_NAME,
      description: 'Small letters, digits and -. Does not change later.',
    }),
    title: Type.Optional(title),
    hosts,
    quotas: Type.Optional(setQuotas),
    password: Type.Optional(
      Type.String({
        minLength: 10,
        maxLength: 1024,
        description:
          'Of its first administrator, `admin`. Not given: a random one, which the reply shows once.',
      }),
    ),
    email: Type.Optional(
      Type.String({
        minLength: 3,
        maxLength: 254,
        description:
          'In place of a password: who has this address is invited by mail as the first administrator, and the password of `admin` is not shown. CONFLICT where no mail server is set.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const updateSpaceSchema = Type.Partial(
  Type.Object({
    title,
    hosts,
    quotas: setQuotas,
    suspended: Type.Boolean({
      description: 'True: its requests get 503, and its jobs and schedules wait. Data stays.',
    }),
  }),
  { additionalProperties: false, minProperties: 1 },
)

export const removeSpaceQuery = Type.Object(
  { confirm: Type.String({ description: 'The name of the space, as a confirmation.' }) },
  { additionalProperties: false },
)

const spaceRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  title: Type.String(),
  hosts: Type.Array(Type.String()),
  quotas: quotasSchema,
  state: Type.Enum(spaceStates, {
    description: '`removing`: its data is being deleted.',
  }),
  open: Type.Boolean({ description: 'Whether a node has it open at this moment.' }),
  broken: Type.Boolean({
    description: 'Whether the node that replies could not open or delete it when it tried that last.',
  }),
  wakes_at: Type.Integer({
    description:
      'Unix seconds at which a closed space is opened for jobs and schedules; 0 = it is open, or was not yet.',
  }),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type SpaceRecord = Wire<typeof spaceRecord>
export const spaceSchema = storedRecord(spaceRecord)

export const createdSpaceSchema = Type.Object({
  space: spaceSchema,
  administrator: Type.Object({
    username: Type.String(),
    password: Type.Union([Type.String(), Type.Null()], {
      description: 'Shown once, and only where the request named none.',
    }),
  }),
})
export type CreatedSpace = Pick<Wire<typeof createdSpaceSchema>, 'administrator'> & {
  readonly space: SpaceRecord
}

export const spaceBackupSchema = Type.Object({
  name: Type.String(),
  folder: Type.String({ description: 'Where it will be, on the node that replies.' }),
})
export type SpaceBackup = Wire<typeof spaceBackupSchema>
