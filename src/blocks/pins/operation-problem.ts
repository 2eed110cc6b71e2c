import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { isJsonObject } from '../../shared/json.ts'
import {
  bodyForms,
  DEEPEST_SHAPE,
  MOST_SHAPES,
  type Operation,
  operationPlaces,
  operationStyles,
  operationTypes,
  type ReplyShape,
  shapeKinds,
} from '../../shared/operations/operation.ts'

const closed = { additionalProperties: false } as const
const pinId = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', maxLength: 80 })
const headerPin = Type.String({ pattern: '^header_[A-Za-z0-9_]*$', maxLength: 120 })
const help = Type.Optional(Type.String({ maxLength: 2_000 }))
const type = Type.Enum([...operationTypes])
const flag = Type.Optional(Type.Literal(true))

const pin = Type.Object(
  {
    pin: pinId,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    in: Type.Enum([...operationPlaces]),
    type,
    help,
    required: flag,
    choices: Type.Optional(Type.Array(Type.String({ maxLength: 2_000 }), { minItems: 1, maxItems: 500 })),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    integer: flag,
    style: Type.Optional(Type.Enum([...operationStyles])),
    explode: Type.Optional(Type.Boolean()),
    json: flag,
  },
  closed,
)

const operation = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 200 }),
    hash: Type.String({ minLength: 1, maxLength: 100 }),
    title: Type.String({ maxLength: 200 }),
    method: Type.Enum(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']),
    path: Type.String({ minLength: 1, maxLength: 2_000, pattern: '^/' }),
    help,
    pins: Type.Array(pin, { maxItems: 400 }),
    body: Type.Optional(
      Type.Object(
        {
          type: Type.String({ pattern: '^[a-z0-9!#$&^_.+*-]+/[a-z0-9!#$&^_.+*-]+$', maxLength: 200 }),
          as: Type.Enum([...bodyForms]),
          pin: Type.Optional(pinId),
          holds: Type.Optional(type),
          required: flag,
          help,
        },
        closed,
      ),
    ),
    gives: Type.Optional(
      Type.Object(
        {
          ...{ type, accept: Type.String({ maxLength: 200, pattern: '^[ -~]+$' }), help, bytes: flag },
          shape: Type.Optional(Type.Unsafe<ReplyShape>(Type.Any())),
        },
        closed,
      ),
    ),
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          { pin: Type.Unsafe<`header_${string}`>(headerPin), name: Type.String({ maxLength: 100 }), help },
          closed,
        ),
        {
          maxItems: 200,
        },
      ),
    ),
    failures: Type.Optional(
      Type.Array(
        Type.Object(
          { status: Type.String({ pattern: '^(?:[1345](?:[0-9]{2}|[xX]{2})|default)$' }), help },
          closed,
        ),
        { maxItems: 100 },
      ),
    ),
  },
  closed,
)

const checker = Compile(operation)

export function isOperation(value: unknown): value is Operation {
  return checker.Check(value) && isReplyShape(value.gives?.shape ?? 'any', { left: MOST_SHAPES })
}

/** The schema above takes any: it cannot bound what holds itself. */
function isReplyShape(shape: unknown, parts: { left: number }, depth = 0): boolean {
  parts.left -= 1
  if (parts.left < 0 || depth > DEEPEST_SHAPE) return false
  if (typeof shape === 'string') return shapeKinds.some((kind) => kind === shape)
  if (Array.isArray(shape)) return shape.length === 1 && isReplyShape(shape[0], parts, depth + 1)
  return isJsonObject(shape) && Object.values(shape).every((one) => isReplyShape(one, parts, depth + 1))
}

/** What is wrong with the value of a setting, in words that finish "The setting operation …", or undefined. */
export function operationProblem(value: unknown): string | undefined {
  if (!isOperation(value)) {
    const [first] = checker.Errors(value)
    const place = first?.instancePath ? ` at ${first.instancePath.slice(0, 100)}` : ''
    return `must be an operation, as "quoin connection operation" prints it${place}: ${first?.message ?? 'the shape of its reply is none'}`
  }
  const names = [
    ...value.pins.map((one) => one.pin),
    ...(value.body?.pin === undefined ? [] : [value.body.pin]),
  ]
  const twice = names.find((one, at) => names.indexOf(one) !== at)
  if (twice !== undefined) return `has two pins named ${twice}`
  return value.path.includes('..') ? 'has a path with ..' : undefined
}
