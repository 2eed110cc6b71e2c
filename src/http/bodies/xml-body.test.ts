import { describe, expect, test } from 'vitest'
import { parseXmlBody } from './xml-body.ts'

const none = new Set<string>()
const read = (xml: string | Buffer, lists: ReadonlySet<string> = none) =>
  parseXmlBody(Buffer.from(xml), lists)
const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)

/** Each entity is ten of the one before: a gigabyte of text. */
const laughs = `<!DOCTYPE l [<!ENTITY a "ha">${[...'bcdefghij'].map((name, i) => `<!ENTITY ${name} "${`&${'abcdefghij'[i]};`.repeat(10)}">`).join('')}]><l>&j;</l>`

describe('refused', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['entities that multiply', laughs, /document type/],
    [
      'an external entity',
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
      /document type/,
    ],
    ['an external document type', '<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd"><a/>', /document type/],
    ['an entity that nothing declares', '<a>&x;</a>', /not XML/],
    ['an element that is not closed', '<a><b></a>', /not XML/],
    ['an end that is missing', '<a><b/>', /not XML/],
    ['two roots', '<a/><b/>', /not XML/],
    ['an attribute twice', '<a x="1" x="2"/>', /not XML/],
    ['no XML', '{"a": 1}', /not XML/],
    ['31 elements in one another', nested(31), /deeper than 30/],
    [
      '1,001 attributes',
      `<a ${Array.from({ length: 1001 }, (_, n) => `x${n}=""`).join(' ')}/>`,
      /attributes/,
    ],
    [
      '5,001 names',
      `<a>${Array.from({ length: 5001 }, (_, n) => `<x${n}/>`).join('')}</a>`,
      /different names/,
    ],
    ['U+0000', '<a>&#0;</a>', /not XML/],
    ['half a surrogate pair', '<a>&#xD800;</a>', /not XML/],
    ['a name that changes objects', '<a><__proto__/></a>', /named __proto__/],
    ['another encoding', '<?xml version="1.0" encoding="ISO-8859-1"?><a/>', /encoding/],
    ['bytes that are not UTF-8', Buffer.from([0x3c, 0x61, 0x3e, 0xe9, 0x3c, 0x2f, 0x61, 0x3e]), /UTF-8/],
  ])('%s', async (_name, xml, message) => {
    await expect(read(xml)).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringMatching(message),
    })
  })
})

describe('read', () => {
  test.each<[string, string, unknown]>([
    ['nothing', '', undefined],
    ['a text', '<a>tea</a>', { a: 'tea' }],
    ['an empty element', '<a/>', { a: '' }],
    ['attributes', '<a x="1" y="&lt;&#233;"/>', { a: { '@x': '1', '@y': '<é' } }],
    ['a text with attributes', '<a x="1"> tea </a>', { a: { '@x': '1', '#text': 'tea' } }],
    ['elements', '<a>\n  <b>1</b>\n  <c>2</c>\n</a>', { a: { b: '1', c: '2' } }],
    ['a repeated element', '<a><b>1</b><c/><b>2</b></a>', { a: { b: ['1', '2'], c: '' } }],
    ['an element that is named as a list', '<a><i>1</i></a>', { a: { i: ['1'] } }],
    ['text among elements', '<a>x<b/>y</a>', { a: { b: '', '#text': 'xy' } }],
    ['CDATA, comments and instructions', '<a><!-- c --><?p q?><![CDATA[<b>&amp;]]></a>', { a: '<b>&amp;' }],
    ['prefixes', '<s:a xmlns:s="urn:x"><s:b>1</s:b></s:a>', { 's:a': { '@xmlns:s': 'urn:x', 's:b': '1' } }],
    ['a declaration and a mark', '\uFEFF<?xml version="1.0" encoding="utf-8"?><a>é</a>', { a: 'é' }],
    ['30 elements in one another', nested(30), expect.anything()],
  ])('%s', async (_name, xml, value) => {
    expect(await read(xml, new Set(['i']))).toEqual(value)
  })

  test('a document in many pieces, each element once', async () => {
    const items = Array.from({ length: 20_000 }, (_, n) => `<item n="${n}">${n}é</item>`)
    const read20000 = await read(`<list>${items.join('')}</list>`)
    expect(read20000).toEqual({
      list: { item: items.map((_, n) => ({ '@n': String(n), '#text': `${n}é` })) },
    })
  })
})
