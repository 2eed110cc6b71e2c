/**
 * The example of a block: `<group>/<identifier>.example.json` beside it. It holds a blueprint that a builder can import
 * as it stands, and requests that show what the block does in it. `docs/blocks.md` prints it, and the suite imports it
 * into a real server, sends the requests and compares the replies.
 *
 * Values known only at run time are written in a step as text in angle brackets (`example-text.ts` reads it):
 *
 *   "<guid>"         any guid; also <text>, <number>, <date> (ISO 8601)
 *   "<guid:order>"   the first reply that has it decides what it is; after that it stands for that value, in replies,
 *                    bodies and paths ("/api/v1/orders/<guid:order>")
 *   "<address>"      where Quoin itself answers, such as http://127.0.0.1:8080
 *
 * A reply is compared whole, with one exception: of `_meta` only what the example says.
 *
 * Of an event stream the body is the data of its first event.
 *
 * Of a page (a path that is not under /api/) the reply says some texts that it shows, and some that it does not. A step
 * with `form` opens the page, fills in its form and sends it, as a browser does.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { anyJson } from '../shared/api/record-schemas.ts'
import type { JsonObject } from '../shared/json.ts'

const headers = Type.Record(Type.String({ pattern: '^[a-z0-9-]+$' }), Type.String())

const filledForm = Type.Object(
  {
    /** `form_id` of the form, or the name of the table; not said: the form that the button stands in. */
    id: Type.Optional(Type.String()),
    /** By field. What is not named is sent as it stands. */
    values: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]))),
    /** Words on the button that is clicked. Not said: the form's own. */
    button: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

const ExampleStep = Type.Object(
  {
    /** What this step shows, where it is not plain. */
    says: Type.Optional(Type.String({ pattern: '[.]$' })),
    /** Name of the calling user, created for the example; `admin` exists. Anonymous if not given. */
    as: Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
    request: Type.Object(
      {
        method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
        path: Type.String({ pattern: '^/' }),
        headers: Type.Optional(headers),
        body: Type.Optional(anyJson()),
        form: Type.Optional(filledForm),
      },
      { additionalProperties: false },
    ),
    /** Without `body` the reply has none. Headers that are not named may be anything. */
    reply: Type.Object(
      {
        status: Type.Integer(),
        headers: Type.Optional(headers),
        body: Type.Optional(anyJson()),
        /** Texts of a page, in order. */
        shows: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
        shows_not: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
      },
      { additionalProperties: false },
    ),
    /** For what happens in the background: the request is sent again until it is answered so. */
    eventually: Type.Optional(Type.Literal(true)),
  },
  { additionalProperties: false },
)
export type ExampleStep = Static<typeof ExampleStep>

const BlockExample = Type.Object(
  {
    /** One or two sentences for the builder. */
    shows: Type.String({ pattern: '^[A-Z].*[.]$' }),
    /** A blueprint file; it is checked when it is imported. */
    blueprint: Type.Object({
      name: Type.String(),
      blocks: Type.Record(Type.String(), Type.Unsafe<JsonObject>({ type: 'object', required: ['type'] })),
    }),
    /** Blueprint fields that an administrator has created before the blueprint is imported. */
    fields: Type.Optional(
      Type.Array(Type.Unsafe<JsonObject>({ type: 'object', required: ['name', 'storage'] })),
    ),
    /** Secrets that an administrator has set before, by name. */
    secrets: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Base addresses of connections that an administrator has made before, by name. */
    connections: Type.Optional(Type.Record(Type.String(), Type.String())),
    steps: Type.Array(ExampleStep, { minItems: 1 }),
  },
  { additionalProperties: false },
)
export type BlockExample = Static<typeof BlockExample>

/** An example and where it was found. */
export interface FoundExample {
  readonly identifier: string
  /** The folder, as for the block. */
  readonly group: string
  readonly example: BlockExample
}

const ending = '.example.json'

/** All examples, sorted by group and identifier. Throws an Error that names the file of the first one that is malformed. */
export async function findExamples(
  directory: string = import.meta.dirname,
): Promise<readonly FoundExample[]> {
  const schema = Compile(BlockExample)
  const entries = await readdir(directory, { withFileTypes: true })
  const groups = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const found: FoundExample[] = []
  for (const group of groups.sort()) {
    const names = await readdir(join(directory, group))
    for (const name of names.filter((one) => one.endsWith(ending)).sort()) {
      const file = join(directory, group, name)
      const example: unknown = JSON.parse(await readFile(file, 'utf8'))
      if (!schema.Check(example)) {
        const [first] = schema.Errors(example)
        throw new Error(`${file}: The example does not fit at ${first?.instancePath}: ${first?.message}.`)
      }
      found.push({ identifier: basename(name, ending), group, example })
    }
  }
  return found
}
