/** The name of a file that another server sends: from its header `content-disposition`, else from its address. */
import { isUtf8 } from 'node:buffer'
import { headerParameters, headerParts } from '../http/header-parts.ts'
import type { AnswerHead } from '../http/send-request.ts'

/** Bytes. Names of assets have at most 255. */
const LONGEST = 200
const WITHOUT_NAME = 'download'
/** As in names of assets: control and format characters, which can hide the end of a name. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const ENDING = /\.[\p{L}\p{N}]{1,16}$/u

/** Always a name that an asset can have, whatever the server sends. */
export function sentName({ headers, url }: AnswerHead): string {
  const said = headers['content-disposition']
  const last = url.pathname.split('/').at(-1) ?? ''
  return (
    plainName(typeof said === 'string' ? disposedName(said) : undefined) ??
    plainName(percentDecoded(last)) ??
    WITHOUT_NAME
  )
}

/** `filename*` of RFC 6266 goes first. */
function disposedName(header: string): string | undefined {
  const parameters = headerParameters(headerParts(header, ';').slice(1))
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(parameters.get('filename*') ?? '') ?? []
  const plain = parameters.get('filename')
  return (
    (encoded === undefined ? undefined : percentDecoded(encoded)) ??
    (plain === undefined ? undefined : utf8Of(plain))
  )
}

function plainName(text: string | undefined): string | undefined {
  const [last = ''] = (text ?? '').toWellFormed().split(/[/\\]/).slice(-1)
  const name = shortened(last.replace(INVISIBLE, '').trim())
  return name === '' || name === '.' || name === '..' ? undefined : name
}

/** The ending stays. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST) return name
  const ending = ENDING.exec(name)?.[0] ?? ''
  const most = LONGEST - Buffer.byteLength(ending)
  let stem = ''
  for (const char of name.slice(0, name.length - ending.length)) {
    if (Buffer.byteLength(stem + char) > most) break
    stem += char
  }
  return `${stem.trim()}${ending}`
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The client reads headers byte by byte; many servers write names in UTF-8. */
function utf8Of(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return bytes.toString('latin1') === text && isUtf8(bytes) ? bytes.toString('utf8') : text
}
