import Type, { type Static } from 'typebox'
import type { Operation } from '../../operations/operation.ts'
import { actorSchema, metaSchema, storedRecord } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const documentRecord = Type.Object({
  _meta: metaSchema,
  connection: Type.String({ description: 'Name of the connection.' }),
  title: Type.String(),
  version: Type.String(),
  servers: Type.Array(Type.String(), { description: 'Addresses at which the API says it is.' }),
  source: Type.String({ description: 'Address from which it was fetched; empty where it was sent.' }),
  hash: Type.String({ description: 'Of the document as it was sent.' }),
  operations: Type.Integer(),
  left_out: Type.Array(Type.Object({ operation: Type.String(), what: Type.String() }), {
    description: 'The first 500 parts that no block offers.',
  }),
  left_out_count: Type.Integer(),
  created_by: actorSchema,
  modified_by: actorSchema,
})
export type ApiDocumentRecord = Wire<typeof documentRecord>
export const apiDocumentSchema = storedRecord(documentRecord)

export const fetchDocumentSchema = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        maxLength: 2_000,
        description: 'Address of the document; that of the present one if not given.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const replacedDocumentSchema = Type.Object({
  document: apiDocumentSchema,
  changed: Type.Integer({ description: 'Operations that differ from those of the document before.' }),
  changes: Type.Array(
    Type.Object({ operation: Type.String(), change: Type.Enum(['added', 'changed', 'removed']) }),
    { description: 'The first 500 of them.' },
  ),
})
export type ReplacedDocumentReply = Static<typeof replacedDocumentSchema>

const listed = {
  _meta: metaSchema,
  connection: Type.String({ description: 'Name of the connection.' }),
  operation: Type.String({ description: 'Id of the operation in the document.' }),
  title: Type.String(),
  method: Type.String(),
  path: Type.String(),
  group: Type.String({ description: 'First tag of the operation.' }),
  hash: Type.String({ description: 'Changes when requests or replies of the operation do.' }),
}
const listedOperation = Type.Object(listed)
export type ListedOperation = Wire<typeof listedOperation>
export const listedOperationSchema = storedRecord(listedOperation)

const wholeOperation = Type.Object({
  ...listed,
  definition: Type.Unsafe<Operation>({
    type: 'object',
    additionalProperties: true,
    description: 'What the setting `operation` of a block `call_operation` holds.',
  }),
  types: Type.String({ description: 'Types of body and replies, as TypeScript writes them.' }),
  sign_in: Type.Array(Type.String(), {
    description: 'How its requests are signed in, as the document says.',
  }),
})
export type WholeOperation = Wire<typeof wholeOperation>
export const wholeOperationSchema = storedRecord(wholeOperation)
