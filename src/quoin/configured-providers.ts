/**
 * Sign-in providers of the settings: `{ "providers": { "acme": { "title": "Acme", … } } }`, in a file or in the setting itself. The name of each
 * is its identity; groups are named too, since guids differ from cluster to cluster. The secret of a client is named, never written.
 */
import { open } from 'node:fs/promises'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import type { Access } from '../access/access.ts'
import { shapeMisfits } from '../applications/parts-problems.ts'
import { checkProvider } from '../identity/sign-in-providers.ts'
import { OptionError } from '../options/option-kinds.ts'
import { optionTable } from '../options/options.ts'
import type { SystemLog } from '../records/system-log.ts'
import {
  createProviderSchema,
  PROVIDER_NAME,
  type ProviderInput,
} from '../shared/api/people/sign-in-providers.ts'
import { type JsonPath, type PlacedProblem, readPlacedJson } from '../shared/application/json-places.ts'
import { QuoinError } from '../shared/errors.ts'

const { variable } = optionTable.signInProviders
const MOST_BYTES = 1024 * 1024
const MOST_LINES = 10

const { name: _, ...fields } = createProviderSchema.properties
const schema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    providers: Type.Record(
      Type.String({ pattern: PROVIDER_NAME }),
      Type.Object(fields, { additionalProperties: false }),
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
const shape = Compile(schema)

/** OptionError with file, line and column for what cannot be a provider. `setting`: a path, or the text itself. */
export async function readConfiguredProviders(setting: string): Promise<readonly ProviderInput[]> {
  if (setting === '') return []
  const isText = setting.startsWith('{')
  const { providers, problems } = providersIn(isText ? setting : await textOf(setting))
  if (problems.length === 0) return providers
  const file = isText ? variable : setting
  const lines = problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
  const more = lines.length > MOST_LINES ? [`and ${lines.length - MOST_LINES} more.`] : []
  throw new OptionError([`${variable} cannot be used.`, ...lines.slice(0, MOST_LINES), ...more].join('\n'))
}

async function textOf(path: string): Promise<string> {
  const cannot = (why: string) => new OptionError(`${variable} is the file ${path}, which ${why}.`)
  const file = await open(path).catch((error: unknown) => {
    throw cannot(`cannot be read (${Object(error).code})`)
  })
  try {
    const { size } = await file.stat()
    if (size > MOST_BYTES) throw cannot('has more than 1 MiB')
    return await file.readFile('utf8').catch((error: unknown) => {
      throw cannot(`cannot be read (${Object(error).code})`)
    })
  } finally {
    await file.close()
  }
}

interface ReadProviders {
  readonly providers: readonly ProviderInput[]
  readonly problems: readonly PlacedProblem[]
}

function providersIn(text: string): ReadProviders {
  const { value, problems, placeOf } = readPlacedJson(text.replace(/^\uFEFF/, ''))
  if (value === undefined || problems.length > 0) return { providers: [], problems }
  const placed = (path: JsonPath, message: string) => ({ ...placeOf(path), message })
  if (!shape.Check(value)) {
    const misfits = shapeMisfits(schema, shape.Errors(value), value)
    return { providers: [], problems: misfits.map(({ path, message }) => placed(path, meant(path, message))) }
  }
  const providers = Object.entries(value.providers).map(([name, one]) => ({ name, ...one }))
  const wrong = providers.flatMap((one) => {
    const problem = problemOf(one)
    return problem ? [placed(['providers', one.name, ...problem.path], problem.message)] : []
  })
  return { providers, problems: wrong }
}

/** Where the words of the schema do not say what to do. */
function meant(path: JsonPath, message: string): string {
  if (path.length === 2 && message.includes('unknown'))
    return `${path[1]} cannot be the name of a provider: a lower-case letter, and then up to 39 letters, digits and -.`
  const last = path.at(-1)
  // What most write first is no part of a file that is merged and shown around.
  if (last === 'client_secret')
    return 'client_secret does not belong in a file. Store it (quoin secret set <name>), and write that name as secret.'
  return last === 'kind' ? `${path.join('.')} must be oidc or github.` : message
}

function problemOf(
  provider: ProviderInput,
): { readonly path: JsonPath; readonly message: string } | undefined {
  try {
    checkProvider(provider)
    return undefined
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { path: error.fields ?? [], message: error.message }
  }
}

/** Behind the first start, which makes the groups that a cluster begins with. */
export async function setProviders(
  { providers }: Pick<Access, 'providers'>,
  configured: readonly ProviderInput[],
  log: Pick<SystemLog, 'write'>,
): Promise<void> {
  const unknown = await providers.configure(configured).catch((error: unknown) => {
    throw error instanceof QuoinError ? new OptionError(`${variable}: ${error.message}`) : error
  })
  if (unknown.length > 0)
    log.write({
      level: 'warn',
      message: `${variable} names groups that are not there: ${unknown.join(', ')}. Their users get them once they are there and the nodes have started again.`,
    })
}
