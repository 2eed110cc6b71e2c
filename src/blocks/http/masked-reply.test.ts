/** Secrets that another server sends back, in the forms in which servers write them. */
import { describe, expect, test } from 'vitest'
import { turnsDuring } from '../../../test/turns-during.ts'
import { replyMask } from './masked-reply.ts'

const SECRET = 'sk/liv+42 "ä&\'x<'
const PLAIN = 'sk_live_51HxOnyx'
/** As RFC 3986 has it. */
const strictly = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
const base64 = (text: string) => Buffer.from(text).toString('base64')

async function through(secret: string, pieces: readonly (string | Buffer)[]): Promise<string> {
  const mask = replyMask([secret])
  if (!mask) throw new Error('There is no mask.')
  const input = (async function* () {
    for (const piece of pieces) yield Buffer.from(piece)
  })()
  const got: Buffer[] = []
  for await (const piece of mask.pieces(input)) got.push(piece)
  return Buffer.from(await mask.escapes(Buffer.concat(got))).toString('latin1')
}

describe.each([PLAIN, SECRET])('%s', (secret) => {
  test.each<[string, string | Buffer]>([
    ['as it is', secret],
    ['in a URL', encodeURIComponent(secret)],
    [
      'in a URL in lower case',
      encodeURIComponent(secret).toLowerCase() === encodeURIComponent(secret)
        ? secret
        : encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ['in an address whose slashes stay', encodeURIComponent(secret).replaceAll('%2F', '/')],
    ['in a whole address', encodeURI(secret)],
    ['in a query', new URL(`http://a/?${secret.replaceAll('#', '')}`).search.slice(1)],
    ['in a path', new URL(`http://a/${secret}`).pathname.slice(1)],
    ['by a strict encoder', strictly(secret)],
    ['by a strict encoder of forms', strictly(secret).replaceAll('%20', '+')],
    ['by Python, which leaves slashes', strictly(secret).replaceAll('%2F', '/')],
    ['with each byte encoded', [...Buffer.from(secret)].map((byte) => `%${byte.toString(16)}`).join('')],
    ['in a form', new URLSearchParams([['', secret]]).toString().slice(1)],
    ['in JSON', JSON.stringify(secret)],
    ['in JSON with escaped slashes', JSON.stringify(secret).replaceAll('/', '\\/')],
    [
      'in JSON with every character escaped',
      `{"a":"${[...secret].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
    ],
    [
      'in HTML',
      secret
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;'),
    ],
    [
      'in XML',
      secret
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&apos;'),
    ],
    ['in hexadecimal digits', Buffer.from(secret).toString('hex')],
    ['in upper case digits', Buffer.from(secret).toString('hex').toUpperCase()],
    ['in UTF-16', Buffer.from(secret, 'utf16le')],
    ['in Latin', Buffer.from(secret, 'latin1')],
    ['in base64', base64(secret)],
    ['in base64 for URLs', Buffer.from(secret).toString('base64url')],
    ['in base64 with a name', base64(`quoin:${secret}`)],
    ['in base64 behind one byte', base64(`:${secret}`)],
    ['in base64 behind two bytes', base64(`a:${secret} and more`)],
  ])('%s', async (_how, written) => {
    const seen = await through(secret, ['{"before":1, "x":', written, ', "after":2}'])
    expect(seen).toContain('***')
    expect(seen.startsWith('{"before":1, "x":')).toBe(true)
    expect(seen.endsWith(', "after":2}')).toBe(true)
    const left = Buffer.from(seen, 'latin1').toString('utf8').slice(17, -12)
    // Of base64, two characters at each end are of other bytes too.
    expect(left.length).toBeLessThan(30)
    expect(left).not.toMatch(/live|liv\+|Onyx|51Hx/)
  })
})

test('a secret that is cut between pieces, anywhere, is masked', async () => {
  const whole = `{"a":"${PLAIN}","b":"${base64(`u:${PLAIN}`)}"}`
  for (let at = 1; at < whole.length; at++) {
    const seen = await through(PLAIN, [whole.slice(0, at), whole.slice(at)])
    expect(seen).toMatch(/^\{"a":"\*\*\*","b":"[\w+/]{0,6}\*\*\*[\w+/=]{0,3}"\}$/)
  }
  expect(await through(PLAIN, [...whole])).toMatch(/^\{"a":"\*\*\*"/)
})

test('what holds no secret stays as it is, to the byte', async () => {
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256))
  const seen = await through(PLAIN, [bytes.subarray(0, 70_000), bytes.subarray(70_000)])
  expect(Buffer.from(seen, 'latin1').equals(bytes)).toBe(true)
  const json = '{"a":"\\u00e4\\n\\"sk_live","n":12345678901234567890}'
  expect(await through(PLAIN, [json])).toBe(json)
})

test('numbers beside a masked text keep their digits', async () => {
  const escaped = PLAIN.replaceAll('_', '\\u005f')
  expect(await through(PLAIN, [`{"n":12345678901234567890,"a":"${escaped}"}`])).toBe(
    '{"n":12345678901234567890,"a":"***"}',
  )
})

test('a secret that is sent back in many texts is masked in turns', async () => {
  const escaped = PLAIN.replaceAll('_', '\\u005f')
  const texts = Array.from({ length: 200_000 }, () => '"a"')
  const bytes = Buffer.from(`[${texts.join(',')},"${escaped}",${texts.join(',')}]`)
  let seen: Uint8Array | undefined
  const turns = await turnsDuring(async () => {
    seen = await replyMask([PLAIN])?.escapes(bytes)
  })
  expect(Buffer.from(seen ?? []).toString()).toBe(`[${texts.join(',')},"***",${texts.join(',')}]`)
  // Some of them are of looking for it, a quarter of a megabyte each.
  expect(turns).toBeGreaterThan(5)
})

test('names and values of headers, and lists of them', () => {
  const mask = replyMask([PLAIN])
  expect(
    mask?.headers({ 'x-sent': `Bearer ${PLAIN}`, [`x-${PLAIN}`]: '1', 'set-cookie': [`a=${PLAIN}`, 'b=1'] }),
  ).toEqual({ 'x-sent': 'Bearer ***', 'x-***': '1', 'set-cookie': ['a=***', 'b=1'] })
})

test('texts of fewer than four characters are not looked for', () => {
  expect(replyMask(['abc', ''])).toBeUndefined()
})
