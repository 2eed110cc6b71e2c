/** The failure that a blueprint describes: pins, and the error that they make. */
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { PinError } from '../block.ts'
import type { InPin } from '../pin.ts'

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
const LONGEST_MESSAGE = 2_000
const MOST_FIELDS = 100

export const failurePins = {
  status: {
    type: 'number',
    default: 400,
    min: 400,
    max: 599,
    integer: true,
    help: 'Status code of the reply: 400 bad request, 403 forbidden, 404 not found, 409 conflict.',
  },
  message: { type: 'value', default: 'The request failed.', help: 'What went wrong, for the client.' },
  code: {
    type: 'value',
    help: 'A word for programs, such as OUT_OF_STOCK: code of the reply. Empty: the reply has none.',
  },
  details: {
    type: 'object',
    help: 'More about the error: details of the reply. Empty: the reply has none.',
  },
  fields: {
    type: 'array',
    help: 'Names of the fields at fault, at most 100: fields of the reply has each with the message. Empty: the reply has none.',
  },
} as const satisfies Readonly<Record<string, InPin>>

/** Throws PinError for a message that is too long and a code that is no word. */
export function flowFailure(inputs: {
  readonly status: number
  readonly message: string
  readonly code: string | undefined
  readonly details: JsonObject | undefined
  readonly fields: readonly JsonValue[] | undefined
}): QuoinError {
  const { status, message, code: input, details, fields = [] } = inputs
  if (message.length > LONGEST_MESSAGE)
    throw new PinError('message', `must have at most ${LONGEST_MESSAGE} characters`)
  const code = input === '' ? undefined : input
  if (code !== undefined && !CODE.test(code))
    throw new PinError('code', 'must be 1 to 64 letters, digits and _.-, starting with a letter')
  if (fields.length > MOST_FIELDS) throw new PinError('fields', `must have at most ${MOST_FIELDS} names`)
  const reasons =
    fields.length === 0 ? undefined : Object.fromEntries(fields.map((name) => [String(name), message]))
  return new QuoinError('FLOW_FAILED', message, { flow: { status, code, details }, reasons })
}
