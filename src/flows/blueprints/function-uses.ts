import type { BlockDefinition } from '../../blocks/block.ts'
import type { RecordContext } from '../../records/records.ts'
import type { FunctionPlace, FunctionUses } from '../../shared/api/blocks/blocks.ts'
import type { BlockContent } from '../../shared/blueprint.ts'
import { yieldToEventLoop } from '../../shared/cooperative.ts'
import type { JsonObject } from '../../shared/json.ts'
import { search } from '../../shared/query.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { changeOf, stagedContent } from './staged-content.ts'

/** Blocks that one request looks at: a cluster with more calls gets those that were made last. */
const MOST_READ = 10_000
/** Blocks that are read in one turn of the event loop. */
const PAGE = 200
/** Places in a reply: more than a person reads. */
const MOST_PLACES = 200

const FUNCTION = 'trigger_custom_function'

/** Where the blueprints define a custom function and call it, as they are staged. Names that are worked out in a run are not known. */
export async function functionUses(
  records: RecordContext,
  catalogue: ReadonlyMap<string, BlockDefinition>,
  name: string,
): Promise<FunctionUses> {
  const session = records.database.session()
  const types = [FUNCTION, ...callingTypes(catalogue)]
  const functions: Found[] = []
  const calls: Found[] = []
  let read = 0
  let isWhole = true
  for await (const record of blocksOfTypes(session, types)) {
    read += 1
    if (read > MOST_READ || functions.length + calls.length >= MOST_PLACES) {
      isWhole = false
      break
    }
    if (changeOf(record) === 'removed') continue
    const content = stagedContent(records, record)
    const found = { blueprint: textIn(record.blueprint_guid), block: guidOf(record), content }
    if (content.type === FUNCTION && content.fields.name === name) functions.push(found)
    else if (callsFunction(catalogue, content, name)) calls.push(found)
  }
  const names = await blueprintNames(session, [...functions, ...calls])
  const placed = (found: readonly Found[]) =>
    found
      .flatMap((one) => placeOf(one, names))
      .toSorted((a, b) => a.blueprint_name.localeCompare(b.blueprint_name))
  return { functions: placed(functions), calls: placed(calls), whole: isWhole }
}

interface Found {
  readonly blueprint: string
  readonly block: string
  readonly content: BlockContent
}

/** Block types with a pin that takes the name of a function. */
function callingTypes(catalogue: ReadonlyMap<string, BlockDefinition>): string[] {
  return [...catalogue]
    .filter(([, definition]) => functionPin(definition) !== undefined)
    .map(([type]) => type)
}

function functionPin(definition: BlockDefinition | undefined): string | undefined {
  return Object.entries(definition?.in ?? {}).find(([, { type }]) => type === 'function')?.[0]
}

function callsFunction(
  catalogue: ReadonlyMap<string, BlockDefinition>,
  { type, in_pins }: BlockContent,
  name: string,
): boolean {
  const pin = functionPin(catalogue.get(type))
  return pin !== undefined && in_pins.some(({ id, value }) => id === pin && value === name)
}

/** The newest first, a page at a time, so that no turn reads more than a page. */
async function* blocksOfTypes(session: Session, types: readonly string[]): AsyncGenerator<JsonObject> {
  const query = { kind: 'terms', field: 'type', values: types } as const
  let after: string | undefined
  do {
    const found = await session.find(
      systemStorages.blocks,
      search({ query, limit: PAGE, ...(after !== undefined && { after }) }),
    )
    yield* documentsOf(found)
    await yieldToEventLoop()
    after = found.next()
  } while (after !== undefined)
}

async function blueprintNames(
  session: Session,
  found: readonly Found[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const guid of new Set(found.map(({ blueprint }) => blueprint))) {
    const stored = await session.get(systemStorages.blueprints, guid)
    if (stored) names.set(guid, textIn(documentOf(stored).name))
  }
  return names
}

function placeOf({ blueprint, block, content }: Found, names: ReadonlyMap<string, string>): FunctionPlace[] {
  const blueprint_name = names.get(blueprint)
  if (blueprint_name === undefined) return []
  return [
    { blueprint, blueprint_name, block, type: content.type, name: content.name ?? '', title: content.title },
  ]
}
