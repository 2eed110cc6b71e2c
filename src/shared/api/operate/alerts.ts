import { Type } from 'typebox'
import { alertFigures } from '../../alerts/alert-figures.ts'
import { SECRET_NAME } from '../../names/stored-names.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const input = {
  figure: Type.Enum(alertFigures, {
    description:
      '`error_share`: replies 5xx in percent of the requests of some minutes; `dead_letters`: their number; `queue_age`: seconds that the oldest due job waits; `disk_free`: MiB free in `QUOIN_DATA` of the node that checks.',
  }),
  threshold: Type.Number({
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'Fires at this value and above it; `disk_free` at it and below.',
  }),
  minutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 60,
      description: 'Minutes that `error_share` looks back; 5 if not given.',
    }),
  ),
  mail: Type.Optional(
    Type.Array(Type.String({ maxLength: 254 }), {
      maxItems: 10,
      description: 'Addresses that are told by mail. Needs `QUOIN_MAIL_URL`.',
    }),
  ),
  webhook: Type.Optional(
    Type.String({
      maxLength: 2048,
      description:
        'Address that is told by POST; empty for none. Private addresses only from `QUOIN_ALLOWED_HOSTS`.',
    }),
  ),
  secret: Type.Optional(
    Type.String({
      maxLength: 63,
      description: 'Name of the secret that signs the webhook; empty for no signature.',
    }),
  ),
  active: Type.Optional(Type.Boolean({ description: 'False: it is not checked. True if not given.' })),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
}

export const createAlertSchema = Type.Object(
  {
    name: Type.String({ pattern: SECRET_NAME, description: 'Letters, digits and _. Does not change later.' }),
    ...input,
  },
  { additionalProperties: false },
)
export const updateAlertSchema = Type.Partial(Type.Object(input), {
  additionalProperties: false,
  minProperties: 1,
})

const alertRecord = Type.Object({
  _meta: metaSchema,
  name: Type.String(),
  figure: Type.Enum(alertFigures),
  threshold: Type.Number(),
  minutes: Type.Integer(),
  mail: Type.Array(Type.String()),
  webhook: Type.String(),
  secret: Type.String(),
  active: Type.Boolean(),
  description: Type.String(),
  firing: Type.Boolean({ description: 'Whether it has fired and is not over.' }),
  since: Type.Integer({ description: 'When it fired or was over: Unix seconds; 0 = never.' }),
  value: Type.Union([Type.Number(), Type.Null()], { description: 'The figure at that time.' }),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type AlertRecord = Wire<typeof alertRecord>
export const alertSchema = storedRecord(alertRecord)

export const testedAlertSchema = Type.Object({
  jobs: Type.Array(Type.String(), {
    description: 'Guids of the jobs that tell: one for the mail, one for the webhook.',
  }),
})
