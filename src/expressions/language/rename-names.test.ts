import { expect, test } from 'vitest'
import { renameNames } from './rename-names.ts'

test.each([
  ['goods.price  *  /* goods */ 2', 'wares.price  *  /* goods */ 2'],
  ['{ goods }', '{ goods: wares }'],
  ['{ goods: goods.goods }', '{ goods: wares.goods }'],
  ['blocks.goods + goods', 'blocks.wares + wares'],
  ['rows.map(goods => goods.x) + goods', 'rows.map(goods => goods.x) + wares'],
  ['rows.map(x => ({ goods, x }))', 'rows.map(x => ({ goods: wares, x }))'],
  ['goods(goods) + "goods"', 'goods(wares) + "goods"'],
  ['good + goodsy', 'good + goodsy'],
  ['goods +', 'goods +'],
])('%s becomes %s', (text, renamed) => {
  expect(renameNames(text, (name) => (name === 'goods' ? 'wares' : undefined))).toBe(renamed)
})
