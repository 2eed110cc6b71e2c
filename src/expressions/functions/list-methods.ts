import type { listMethods } from '../language/declared/list-methods.ts'
import type { MethodBodiesOf } from './body-of.ts'
import { spendOn } from './bounded.ts'
import { equalTo } from './equal-values.ts'
import { eachBodies, flattened, joinedLists, listBodies } from './lists.ts'
import { joinedText } from './text.ts'

export const listMethodBodies: MethodBodiesOf<'list', typeof listMethods> = {
  ...eachBodies,
  slice: (context, list, from, to) => {
    spendOn(context, 'list', list)
    return list.slice(from, to)
  },
  concat: (context, list, ...lists) => joinedLists(context, [list, ...lists]),
  join: joinedText,
  includes: (context, list, value = null) => {
    spendOn(context, 'list', list)
    return list.some(equalTo(context, 'list', value))
  },
  indexOf: (context, list, value = null) => {
    spendOn(context, 'list', list)
    return list.findIndex(equalTo(context, 'list', value))
  },
  findIndex: (context, list, test) => {
    spendOn(context, 'list', list)
    return list.findIndex((item, i) => test(item, i))
  },
  findLast: (context, list, test) => {
    spendOn(context, 'list', list)
    return list.findLast((item, i) => test(item, i))
  },
  reduce: listBodies.reduce,
  flat: (context, list) => {
    spendOn(context, 'list', list)
    return flattened(context, list)
  },
  flatMap: (context, list, values) => flattened(context, eachBodies.map(context, list, values)),
  toReversed: listBodies.reverse,
}
