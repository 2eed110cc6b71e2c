/**
 * One operation of a foreign API, as a block holds it: made of the API's OpenAPI document when the block is added. It is a part of the
 * blueprint, so that a deployed flow does the same after the document has changed or is gone.
 */
import type { PinType } from '../pin-type.ts'

/** Where a value goes in the request. `body`: a field of an object, a form or parts. */
export const operationPlaces = ['path', 'query', 'header', 'cookie', 'body'] as const

/** How a list or an object is written, by its name in the OpenAPI specification. */
export const operationStyles = [
  'form',
  'simple',
  'label',
  'matrix',
  'spaceDelimited',
  'pipeDelimited',
  'deepObject',
] as const

export const operationTypes = [
  'value',
  'line',
  'number',
  'condition',
  'date',
  'array',
  'object',
  'any',
] as const
export type OperationType = Extract<PinType, (typeof operationTypes)[number]>

export const bodyForms = ['json', 'form', 'multipart', 'text', 'base64'] as const

export interface OperationPin {
  /** Id of the pin. */
  readonly pin: string
  /** What the API calls it; absent where the pin is called so too. */
  readonly name?: string
  readonly in: (typeof operationPlaces)[number]
  readonly type: OperationType
  readonly help?: string
  readonly required?: true
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly integer?: true
  /** Absent: that of the place, `form` or `simple`. */
  readonly style?: (typeof operationStyles)[number]
  /** Absent: that of the style. */
  readonly explode?: boolean
  /** Written as JSON. */
  readonly json?: true
}

/**
 * What a reply holds: the name of a kind of value, a list with the shape of its elements, or an object with those of its fields, of
 * which none need be there and others may be.
 */
export type ReplyShape = (typeof shapeKinds)[number] | readonly ReplyShape[] | ReplyFields
export interface ReplyFields {
  readonly [field: string]: ReplyShape
}

export const shapeKinds = ['any', 'text', 'number', 'whole', 'condition'] as const
/** Fields, elements and kinds of one shape. */
export const MOST_SHAPES = 400
export const DEEPEST_SHAPE = 6

export interface Operation {
  /** `operationId` of the document, or method and path where it has none. */
  readonly id: string
  /** Of everything in the document that says how the operation is called and what it replies. */
  readonly hash: string
  readonly title: string
  readonly method: string
  /** Below the address of the connection, with parameters in braces. */
  readonly path: string
  readonly help?: string
  readonly pins: readonly OperationPin[]
  readonly body?: {
    /** Media type. */
    readonly type: string
    readonly as: (typeof bodyForms)[number]
    /** Pin of the whole body; absent where each field has a pin of its own and no other field may be sent. */
    readonly pin?: string
    readonly holds?: OperationType
    readonly required?: true
    readonly help?: string
  }
  readonly gives?: {
    readonly type: OperationType
    /** Media type that is asked for. */
    readonly accept: string
    readonly help?: string
    /** Not text: given as Base64. */
    readonly bytes?: true
    /** What all replies that the document names may hold. Absent: anything. */
    readonly shape?: ReplyShape
  }
  /** Headers of replies that the document names. */
  readonly headers?: readonly {
    readonly pin: `header_${string}`
    readonly name: string
    readonly help?: string
  }[]
  /** Status codes other than 2xx that the document names: `404`, `4XX` or `default`. */
  readonly failures?: readonly { readonly status: string; readonly help?: string }[]
}

interface AddedPin {
  readonly type: PinType
  readonly help: string
}

interface AddedInPin extends AddedPin {
  readonly required?: true
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly integer?: true
}

/** What the setting `operation` of a block is, as far as pins follow from it. Anything else has none: a check names what is wrong. */
function isOperation(value: unknown): value is Pick<Operation, 'pins' | 'body' | 'headers' | 'failures'> {
  return typeof value === 'object' && value !== null && 'pins' in value && Array.isArray(value.pins)
}

export function operationInPins(value: unknown): Readonly<Record<string, AddedInPin>> {
  if (!isOperation(value)) return {}
  const { pins, body } = value
  const own = pins.map((one) => {
    const { pin, name = pin, in: place, type, help, required, choices, min, max, integer } = one
    return [
      pin,
      {
        type,
        help: help ?? `${name}, in the ${place} of the request.`,
        ...(required && { required }),
        ...(choices && { choices }),
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
        ...(integer && { integer }),
      },
    ] as const
  })
  if (body?.pin === undefined) return Object.fromEntries(own)
  const { holds = 'any', help = 'Body of the request.', required } = body
  return Object.fromEntries([...own, [body.pin, { type: holds, help, ...(required && { required }) }]])
}

/** Id of the flow pin that is taken for a status code. */
export function failurePin(status: string): `status_${string}` {
  return `status_${status.toLowerCase()}`
}

export function operationOutPins(value: unknown): Readonly<Record<string, AddedPin>> {
  if (!isOperation(value)) return {}
  const { headers = [], failures = [] } = value
  return Object.fromEntries([
    ...headers.map(({ pin, name, help }): [string, AddedPin] => [
      pin,
      { type: 'value', help: help ?? `Header ${name} of the reply.` },
    ]),
    ...failures.map(({ status, help }): [string, AddedPin] => [
      failurePin(status),
      { type: 'flow', help: `Taken for ${statusText(status)}${help ? `: ${help}` : '.'}` },
    ]),
  ])
}

function statusText(status: string): string {
  if (status === 'default') return 'any other status code outside of 200 to 299'
  return /xx$/i.test(status)
    ? `status codes from ${status[0]}00 to ${status[0]}99`
    : `the status code ${status}`
}
