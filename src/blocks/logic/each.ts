import type { JsonValue } from '../../shared/json.ts'
import { andThen, isPromise } from '../../shared/maybe-promise.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { builderStorage } from '../names.ts'
import { whereIn } from '../pins/query-pins.ts'
import { referringQuery } from '../referring-query.ts'
import { pagesOf } from '../rows/search-pages.ts'

const MOST_ITEMS = 10_000

export default defineFlow({
  identifier: 'each',
  title: 'For each',
  words: 'For each of {list|storage}[ where {where|query}]',
  summary:
    'Runs the flow at each once for each item of a list, or for each document of a search of any size, one after the other and in the transaction of the run. A failure names the element ("element 7: …") and ends the loop; error then also gives its index.',
  effects: { cacheable: true, callerIndependent: true },
  body: 'each',
  in: {
    list: { type: 'array', help: 'The list, of at most 10,000 items. Not together with storage.' },
    storage: {
      type: 'storage',
      help: 'Storage whose documents are the elements. They are read a page at a time while the flow runs.',
    },
    query: { type: 'query', help: 'Query for the documents. Empty: all documents.' },
    where: whereIn,
    sort: {
      type: 'sort',
      several: true,
      help: 'The order of the documents: fields such as country, amount desc, most important first. Empty: newest first, so that documents created meanwhile are left out.',
    },
  },
  out: {
    each: {
      type: 'flow',
      help: 'Runs for each element. A "Return" in it ends the loop and the flow. In a run without a request the blocks of one pass count against the limit of blocks, and not all passes together: the time limit of the run bounds the loop.',
    },
    item: { type: 'any', takenFrom: 'list', help: 'The current item or document, for the flow at each.' },
    index: { type: 'number', help: 'Position of the element, from 0, for the flow at each.' },
    count: { type: 'number', help: 'Number of elements, after all.' },
  },
  settings: asSettings,
  run({ list, storage, query, where, sort }, context) {
    if (storage === undefined) return overList(list ?? [], context)
    if (list !== undefined)
      throw new PinError('list', 'and storage cannot be used together: keep one of the two')
    const name = builderStorage(storage)
    return andThen(referringQuery(context, name, { query, where, sort }), (found) =>
      overPages({ storage: name, query: found, sort, session: context.session }, context),
    )
  },
})

type Context = Pick<FlowContext, 'runBody' | 'signal'>
type Ended = { readonly count: number } | { readonly next: null }

/** Without a promise as long as no pass waits. */
function overList(list: readonly JsonValue[], context: Context): Ended | Promise<Ended> {
  if (list.length > MOST_ITEMS) throw new PinError('list', 'must hold at most 10,000 items')
  for (const [index, item] of list.entries()) {
    const goesOn = context.runBody('each', index, { item, index })
    if (isPromise(goesOn)) return overRest(list, index, goesOn, context)
    if (!goesOn) return { next: null }
  }
  return { count: list.length }
}

async function overRest(
  list: readonly JsonValue[],
  begun: number,
  first: Promise<boolean>,
  context: Context,
): Promise<Ended> {
  let goesOn = await first
  for (let index = begun + 1; goesOn && index < list.length; index += 1)
    goesOn = await context.runBody('each', index, { item: list[index], index })
  return goesOn ? { count: list.length } : { next: null }
}

async function overPages(searched: Parameters<typeof pagesOf>[0], context: Context): Promise<Ended> {
  let index = 0
  for await (const page of pagesOf(searched)) {
    for (const item of page) {
      context.signal.throwIfAborted()
      if (!(await context.runBody('each', index, { item, index }))) return { next: null }
      index += 1
    }
  }
  return { count: index }
}
