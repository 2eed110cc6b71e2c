import { Type } from 'typebox'
import type { ErrorCode } from '../errors.ts'
import { errorTable } from '../errors.ts'
import { anyJson } from './record-schemas.ts'

const codes = Object.keys(errorTable) as ErrorCode[]

/** The body of every error of a management endpoint. Custom endpoints answer `{ error: "short message", fields: { name: reason } }`. */
export const errorSchema = Type.Object(
  {
    error: Type.Enum(codes, { description: 'Error code. Its meaning never changes.' }),
    code: Type.Integer({ description: 'The HTTP status.' }),
    message: Type.String({ description: 'What is wrong, where, and what to do.' }),
    fields: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Fields of the body, dotted, or parameters of the query to change. With INVALID_BODY and INVALID_QUERY, and with CONFLICT if a unique value is taken.',
      }),
    ),
    problems: Type.Optional(
      Type.Array(
        Type.Object({ block: Type.String(), pin: Type.Optional(Type.String()), message: Type.String() }),
        { description: 'Problems of the blueprint. Only with VALIDATION_FAILED.' },
      ),
    ),
    details: Type.Optional(
      Type.Record(Type.String(), anyJson(), {
        description:
          'More about it, by the operation: which documents stand in the way, for example. With CONFLICT and FLOW_FAILED.',
      }),
    ),
    request: Type.Optional(Type.String({ description: 'Id of the request in the log. Only with INTERNAL.' })),
  },
  { $id: 'Error' },
)
