/**
 * How long compiling a large blueprint holds the event loop: `node bench/compile-turns.ts [blocks]`. Three shapes of a blueprint,
 * each compiled twice in one process; the first time nothing is optimized yet. Exits with 1 when a turn is over 50 ms of
 * processor time.
 */
import { loadBlocks } from '../src/blocks/load-blocks.ts'
import { importBlueprint } from '../src/flows/blueprints/blueprint-file.ts'
import { compileCooperatively } from '../src/flows/compile/compile-blueprint.ts'
import type { Block } from '../src/shared/blueprint.ts'
import { guidSource } from '../src/shared/guid.ts'
import { guardTurns, LONGEST_TURN_MS } from '../test/turn-guard.ts'

type FileBlocks = Record<string, Record<string, unknown>>

/** Endpoints of five blocks each, with expressions, as builders write them. */
function endpoints(count: number): FileBlocks {
  const blocks: FileBlocks = {}
  for (let at = 0; at < count / 5; at++)
    Object.assign(blocks, {
      [`get${at}`]: { type: 'on_startup_register_uri_get', in: { uri: `things/${at}` }, scopes: ['*public'] },
      [`sum${at}`]: { type: 'number_sum', in: { array: '=[1, 2, number(params.n)]' } },
      [`search${at}`]: {
        type: 'function_search',
        in: {
          flow: `@get${at}.flow`,
          storage: `s${at % 50}`,
          where: '=doc.status == maybe(params.status) && doc.n > 5',
        },
      },
      [`branch${at}`]: {
        type: 'branch',
        in: { flow: `@search${at}.flow`, condition: `=search${at}.total > sum${at}.number` },
      },
      [`reply${at}`]: {
        type: 'httpconnection_set_json',
        in: {
          flow: `@branch${at}.true`,
          value: `=search${at}.documents.map(d => ({ ...d, sum: sum${at}.number }))`,
        },
      },
    })
  return blocks
}

/** One endpoint with a flow as long as the blueprint. */
function chain(count: number): FileBlocks {
  const blocks: FileBlocks = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'long' }, scopes: ['*public'] },
  }
  for (let at = 0; at < count; at++)
    blocks[`log${at}`] = {
      type: 'function_console_log',
      in: { flow: at === 0 ? '@get.flow' : `@log${at - 1}.flow`, value: at === 0 ? 'x' : '=params.n ?? 1' },
    }
  return blocks
}

/** One value that all others read. */
function fan(count: number): FileBlocks {
  const blocks: FileBlocks = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'wide' }, scopes: ['*public'] },
    one: { type: 'httpconnection_get_params', in: { field: 'n' } },
  }
  for (let at = 0; at < count; at++)
    blocks[`log${at}`] = { type: 'function_console_log', in: { flow: '@get.flow', value: '@one.value' } }
  return blocks
}

const shapes: Readonly<Record<string, (count: number) => FileBlocks>> = { endpoints, chain, fan }
const count = Number(process.argv[2] ?? 10_000)
const newGuid = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))
const catalogue = await loadBlocks()
let tooLong = false

async function longestTurn(blocks: readonly Block[]): Promise<number> {
  const guard = guardTurns()
  await guard.longest()
  const { problems } = await compileCooperatively('bench', blocks, catalogue)
  if (problems[0]) throw new Error(problems[0].message)
  const longest = await guard.longest()
  guard.stop()
  return longest
}

for (const [name, make] of Object.entries(shapes)) {
  const { blocks } = importBlueprint({ name, blocks: make(count) }, newGuid)
  const turns = [await longestTurn(blocks), await longestTurn(blocks)]
  const [first = 0, second = 0] = turns
  tooLong ||= first > LONGEST_TURN_MS || second > LONGEST_TURN_MS
  console.log(
    `${name}: ${blocks.length} blocks, longest turn ${first.toFixed(0)} ms first, ${second.toFixed(0)} ms then`,
  )
}
process.exitCode = tooLong ? 1 : 0
