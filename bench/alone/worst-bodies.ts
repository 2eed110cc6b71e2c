/** Requests of anyone that take as long as they can: a megabyte each, which is the usual limit of a body. */
import { lettersInDisorder } from '../../test/hard-pattern.ts'

export interface WorstInput {
  readonly name: string
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The path is none of the API. */
  readonly isSite?: true
  /** Nothing need be there. */
  readonly isAbsent?: true
  /** Who sends it; no one who is known if not given. */
  readonly as?: 'user' | 'viewer' | 'builder' | 'publisher' | 'agent' | 'provisioner'
}

const SIZE = 1_040_000
/** Of the query and of the headers. */
const LINE = 12_000

const times = (text: string, size = SIZE) => text.repeat(Math.floor((size - 100) / Buffer.byteLength(text)))

const texts: Readonly<Record<string, string>> = {
  zeros: times('0'),
  times: times('00:00'),
  spaces: times(' '),
  'at signs': times('@'),
  domains: `a@${times('a.')}`,
  'an address': `http://${times('a.')}`,
  accents: times('é'),
  'marks of two kinds': `a${times('\u0301\u0323')}`,
  pairs: times('👍'),
  words: times('ab cd '),
  'Cyrillic letters': times('Привет МИР '),
}

/** Scripts whose letters are taken apart, put together or made small in other ways than those above: only texts that are stored need them. */
const scripts: Readonly<Record<string, string>> = {
  'Greek letters': times('Καλημέρα ΚΌΣΜΕ '),
  'Greek letters of three marks': times('ᾧ'),
  Hangul: times('안녕하세요 '),
  'Hangul in parts': times('안녕'.normalize('NFD')),
  kana: times('ガギグ パピ'),
  'kana in parts': times('が'.normalize('NFD')),
  'letters and marks': times('e\u0301'),
  'letters and two marks': times('e\u0323\u0302'),
  'accents between letters': times('aé'),
  Devanagari: times('नमस्ते'),
  'Arabic letters and marks': times('مُحَمَّد'),
}

/** Types whose check looks into a text. */
const types = [
  'string',
  'long_text',
  'number',
  'decimal',
  'date',
  'day',
  'instant',
  'email',
  'url',
  'phone',
  'file',
]

export const worstFields: readonly object[] = [
  ...types.map((type) => ({ name: type, type, ...(type === 'string' && limited({ max_length: 100 })) })),
  ...['day', 'url', 'phone', 'number'].map((items) => ({
    name: `list_${items}`,
    type: 'list',
    ...limited({ items }),
  })),
  {
    name: 'choices',
    type: 'choices',
    ...limited({ choices: Array.from({ length: 500 }, (_, at) => `c${at}`) }),
  },
  { name: 'unique', type: 'string', unique: { ignore_case: true, ignore_accents: true } },
  { name: 'folded', type: 'string', unique: true, ignore_case: true, ignore_accents: true },
  ...Array.from({ length: 20 }, (_, at) => ({
    name: `pattern_${at}`,
    type: 'long_text',
    ...limited({ pattern: `[ab]*a[ab]{${60 + at}}$` }),
  })),
]

function limited(rules: object) {
  return { validation_rules: rules }
}

const JSON_BODY = { 'content-type': 'application/json' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=X' }

const post = (
  name: string,
  path: string,
  body: string,
  headers: WorstInput['headers'] = JSON_BODY,
): WorstInput => ({
  name,
  path,
  method: 'POST',
  body,
  headers,
})
const document = (name: string, body: object | string) =>
  post(name, 'worst/things', typeof body === 'string' ? body : JSON.stringify(body))
const checked = (name: string, body: string, headers: WorstInput['headers']) =>
  post(name, 'worst/checked', body, headers)
const table = (name: string, csv: string) => post(`a table: ${name}`, 'worst/rows', JSON.stringify({ csv }))
const find = (name: string, text: string): WorstInput => ({
  name: `a free text: ${name}`,
  path: `worst/find?text=${encodeURIComponent(text).slice(0, LINE)}`,
  method: 'GET',
})
const header = (name: string, value: string): WorstInput => ({
  name: `a header: ${name}`,
  path: 'worst/ping',
  method: 'GET',
  headers: { [name]: value.slice(0, LINE) },
})
/** Of a file, which a setting of the endpoint allows. */
const FILE = 64_000_000
const file = (name: string, content: string) =>
  post(
    `an upload of 64 MB: ${name}`,
    'worst/uploads',
    `--X\r\ncontent-disposition: form-data; name="k"; filename="a.txt"\r\n\r\n${times(content, FILE)}\r\n--X--\r\n`,
    MULTIPART,
  )
/** `{n}`: another number each time, so that no reply is cached. */
const list = (name: string, parameters: string): WorstInput => ({
  name: `10,000 documents: ${name}`,
  path: `worst/thousands?limit=10000&offset={n}${parameters}`,
  method: 'GET',
})

/** In the storage that lists are of. */
export const LISTED = 12_000
export const listedDocument = (n: number) =>
  JSON.stringify({ n, title: `title ${n}`, text: 'é lorem ipsum '.repeat(65) })

/** The highest setting, and what holds the event loop for longer than may be: half as many bytes, which a flow still takes as one value. */
export const CONTROL_LIMIT = 16_777_216
export const worstControl: WorstInput = document('the control', {
  long_text: 'é'.repeat(4_000_000),
})

const numbered = <T>(count: number, value: T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]))

export const worstInputs: readonly WorstInput[] = [
  ...types.flatMap((type) =>
    Object.entries(texts).map(([name, text]) => document(`${type}: ${name}`, { [type]: text })),
  ),
  ...['string', 'long_text'].flatMap((field) =>
    Object.entries(scripts).map(([name, text]) => document(`${field}: ${name}`, { [field]: text })),
  ),
  ...['unique', 'folded'].flatMap((field) =>
    Object.entries({ ...texts, ...scripts }).map(([name, text]) =>
      document(`${field}: ${name}`, { [field]: text }),
    ),
  ),
  document('ten thousand days', { list_day: Array.from({ length: 10_000 }, () => '2026-01-31') }),
  document('ten thousand addresses', { list_url: Array.from({ length: 10_000 }, () => 'http://a.b') }),
  document('a hundred thousand choices', { choices: Array.from({ length: 100_000 }, () => 'c499') }),
  document(
    'twenty hard patterns',
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`pattern_${at}`, lettersInDisorder(4_000)])),
  ),
  document('70,000 fields', numbered(70_000, 1)),
  document('10,000 fields', numbered(10_000, 'abc')),
  document('60,000 texts', numbered(60_000, 'abc')),
  document('empty objects', `{"a":[${times('{},')}{}]}`),
  document('lists in lists', `{"a":[${times('[[]],')}1]}`),
  document('numbers', `{"a":[${times('1,')}1]}`),
  document('nested lists', times('[')),
  document('nested objects', times('{"a":')),
  document('one key', `{${times('"a":1,')}"b":1}`),
  document('escapes', `{"long_text":"${times('\\u0061')}"}`),
  document('quotes', times('"')),
  document('a long number', `{"a":${times('1')}}`),
  document('long fractions', `{"a":[${times(`0.${'1'.repeat(300)},`)}1]}`),
  checked('a form of many fields', new URLSearchParams(numbered(60_000, '1')).toString(), FORM),
  checked('a form of one field', times('list=a&'), FORM),
  checked('a form of blanks', `text=${times('+')}`, FORM),
  checked('a form of bad characters', `text=${times('%ff')}`, FORM),
  checked('a form with a long number', `number=${times('0')}x`, FORM),
  checked(
    'a form in 12,000 parts',
    `${times('--X\r\ncontent-disposition: form-data; name="k"\r\n\r\nv\r\n')}--X--\r\n`,
    MULTIPART,
  ),
  checked(
    'a form of beginnings',
    `--X\r\ncontent-disposition: form-data; name="k"\r\n\r\n${times('\r\n--')}`,
    MULTIPART,
  ),
  file('zeros', '0'),
  file('line ends', '\r\n'),
  file('beginnings of boundaries', '\r\n--'),
  post(
    'a form of 60,000 bytes a part',
    'worst/uploads',
    `${times(`--X\r\ncontent-disposition: form-data; name="k"\r\n\r\n${'é'.repeat(30_000)}\r\n`)}--X--\r\n`,
    MULTIPART,
  ),
  list('as they are', ''),
  list('with their total', '&count=true'),
  list('in another order', '&order=-title'),
  list('two fields', '&fields=title,n'),
  table('commas', times(',')),
  table('lines', times('\n', SIZE / 2)),
  table('rows', `a,b\n${times('1,2\n', SIZE / 1.3)}`),
  table('quotes', times('"', SIZE / 2)),
  table('a name of a column', `${times('_')}x\n1`),
  ...Object.entries({
    parentheses: '(',
    alternatives: 'a|',
    exclusions: '-a ',
    beginnings: 'a* ',
    misspelled: 'abcd~2 ',
    near: '"a b"~9 ',
    marks: '\u0301\u0323',
  }).map(([name, text]) => find(name, times(text, 4_000))),
  header('authorization', `Bearer ${times('=', LINE)}`),
  header('cookie', times('a=b; ', LINE)),
  header('accept-encoding', times('gzip;q=0.1,', LINE)),
  header('if-none-match', times('"a",', LINE)),
  header('range', `bytes=${times('0-1,', LINE)}`),
  header('content-type', `application/json;${times(' a="', LINE)}`),
  post('signing in', 'auth/signin', JSON.stringify({ username: `a${times('\u0301\u0323')}`, password: 'x' })),
]
