import { Type } from 'typebox'
import { metaSchema } from './meta.ts'
import { storedRecord } from './stored-record.ts'

const description = Type.Optional(Type.String({ maxLength: 10_000 }))
const history = Type.Optional(
  Type.Boolean({
    description: 'Keep what every write of a document changed, from then on. Off if not given.',
  }),
)

export const createStorageSchema = Type.Object(
  {
    name: Type.String({
      description: '1 to 63 of a–z, 0–9, _ and -, starting with a letter. It stays for good.',
    }),
    description,
    history,
  },
  { additionalProperties: false },
)

export const updateStorageSchema = Type.Object(
  { description, history },
  { additionalProperties: false, minProperties: 1 },
)

const actor = Type.Object({ guid: Type.String(), username: Type.String() })

export const storageSchema = storedRecord(
  Type.Object({
    _meta: metaSchema,
    name: Type.String(),
    description: Type.String(),
    history: Type.Boolean(),
    created_by: actor,
    modified_by: actor,
  }),
)
