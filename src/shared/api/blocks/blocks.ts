import { type Static, Type } from 'typebox'
import { pinTypes } from '../../pin-type.ts'
import { rowPartKinds } from '../../rows/row-part.ts'
import { anyJson } from '../record-schemas.ts'
import type { Wire } from '../wire.ts'

const type = Type.Enum([...pinTypes])
const help = Type.String({ description: 'One sentence for the builder.' })

const rowPart = Type.Object({
  kind: Type.Enum([...rowPartKinds]),
  choices: Type.Optional(Type.Array(Type.String())),
})

const inPin = Type.Object({
  type,
  help,
  required: Type.Optional(Type.Literal(true)),
  several: Type.Optional(Type.Literal(true, { description: 'Accepts several wires.' })),
  default: Type.Optional(anyJson()),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  integer: Type.Optional(Type.Literal(true)),
  choices: Type.Optional(Type.Array(Type.String())),
  rows: Type.Optional(
    Type.Record(Type.String(), rowPart, {
      description: 'Of a list: what each object in it may hold. The first key says what the object is about.',
    }),
  ),
  language: Type.Optional(
    Type.Enum(['set', 'where'], {
      description:
        'Its expression has words of its own. `set`: increment, append, unset. `where`: takes an expression only, a condition on `doc`.',
    }),
  ),
  perFrame: Type.Optional(Type.Literal(true, { description: 'Evaluated once for each item.' })),
})

const outPin = Type.Object({
  type,
  help,
  frame: Type.Optional(Type.Literal(true, { description: 'Has a value only for each item.' })),
  carries: Type.Optional(Type.Literal('object', { description: 'A flow pin with a value.' })),
})

const setting = Type.Object({
  help,
  kind: Type.Enum(['text', 'storage', 'number', 'switch', 'choice', 'names', 'fields', 'operation']),
  required: Type.Optional(Type.Literal(true)),
  default: Type.Optional(anyJson()),
  min: Type.Optional(Type.Number()),
  max: Type.Optional(Type.Number()),
  options: Type.Optional(Type.Array(Type.String())),
  lines: Type.Optional(Type.Literal(true, { description: 'A text of several lines.' })),
})

const byName = <T extends typeof inPin | typeof outPin | typeof setting>(schema: T) =>
  Type.Record(Type.String(), schema)

/** A block without its code: what palette and property form are drawn from. */
export const blockDescriptionSchema = Type.Object({
  identifier: Type.String(),
  aliases: Type.Array(Type.String()),
  group: Type.String(),
  kind: Type.Enum(['value', 'flow', 'trigger']),
  on: Type.Union([Type.String(), Type.Null()], { description: 'Event that starts the trigger.' }),
  title: Type.String(),
  words: Type.Optional(
    Type.String({
      description:
        'Title of one such block made of its pins and settings: `Search {storage}[ where {where|query}]`.',
    }),
  ),
  summary: Type.String(),
  in: byName(inPin),
  out: byName(outPin),
  settings: byName(setting),
  outside: Type.Optional(
    Type.Boolean({ description: 'It reaches outside: a replay gives its recorded outputs.' }),
  ),
  body: Type.Optional(Type.String({ description: 'Flow out-pin whose flow runs once for each element.' })),
  waits: Type.Optional(Type.Literal(true, { description: 'Stores the run, which goes on later.' })),
  more_in: Type.Boolean({ description: 'Whether its settings add in-pins.' }),
  more_out: Type.Boolean({ description: 'Whether its settings, or the builder, add out-pins.' }),
  adds: Type.Object(
    {
      in: byName(inPin),
      out: byName(outPin),
      custom_out: Type.Boolean(),
    },
    { description: 'By setting: the pin for each name in its list.' },
  ),
})

export type BlockDescription = Wire<typeof blockDescriptionSchema>
export type InPin = Wire<typeof inPin>
export type OutPin = Wire<typeof outPin>
export type Setting = Wire<typeof setting>

export const blockParams = Type.Object({ identifier: Type.String({ minLength: 1, maxLength: 100 }) })

export const blockSearchSchema = Type.Object(
  {
    query: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Words that identifier, title or summary have, each of them.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
  },
  { additionalProperties: false },
)

export const foundBlocksSchema = Type.Object({
  found: Type.Integer({ description: 'Blocks that have the words, also those beyond the limit.' }),
  blocks: Type.Array(
    Type.Object({ identifier: Type.String(), title: Type.String(), summary: Type.String() }),
  ),
})

export const blockTimesSchema = Type.Object({
  deployment: Type.Integer({ description: 'Number of the deployed version; 0 if it was never deployed.' }),
  runs: Type.Integer({ description: 'Sampled runs of its triggers, in the last 24 to 30 hours.' }),
  blocks: Type.Array(
    Type.Object({
      block: Type.String(),
      passes: Type.Integer({ description: 'How often the sampled runs executed it.' }),
      p50_us: Type.Integer({
        description: 'Microseconds that half of them stayed below. Of a trigger: of the whole run.',
      }),
      p95_us: Type.Integer({ description: 'Microseconds that 95 of 100 stayed below.' }),
      tokens: Type.Optional(
        Type.Integer({ description: 'Of a block that asks a model: tokens of all of these passes.' }),
      ),
      cost: Type.Optional(Type.Number({ description: 'And what they cost, by the prices of the block.' })),
    }),
    { description: 'Blocks that sampled runs passed; estimates are at most 10 % off.' },
  ),
})
export type BlockTimes = Static<typeof blockTimesSchema>

export const blockUsesSchema = Type.Array(
  Type.Object({
    type: Type.String({ description: 'Identifier of the block type.' }),
    count: Type.Integer({ description: 'Blocks of this type in all blueprints.' }),
  }),
)
export type BlockUses = Wire<typeof blockUsesSchema>

const place = Type.Object({
  blueprint: Type.String({ description: 'Guid of the blueprint.' }),
  blueprint_name: Type.String(),
  block: Type.String({ description: 'Guid of the block.' }),
  type: Type.String(),
  name: Type.String({ description: 'Name of the block.' }),
  title: Type.String(),
})
export type FunctionPlace = Static<typeof place>

export const functionUsesSchema = Type.Object({
  functions: Type.Array(place, { description: 'Blocks that are the function.' }),
  calls: Type.Array(place, { description: 'Blocks that call it, at once or later.' }),
  whole: Type.Boolean({ description: 'False when there are more than are listed.' }),
})
export type FunctionUses = Static<typeof functionUsesSchema>

export const functionParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128, description: 'Name of the custom function.' }),
})
