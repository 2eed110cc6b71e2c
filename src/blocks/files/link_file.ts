import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow, PinError } from '../block.ts'
import { readDuration } from '../pins/scalar-values.ts'

const DAY = 86_400
/** The most that S3 signs for, in seconds. */
const LONGEST_DIRECT = 7 * DAY
const LONGEST = 366 * DAY

export default defineFlow({
  identifier: 'link_file',
  title: 'Link file',
  summary:
    'Makes a link with which every client can read a file (an asset) for a time, without signing in. The link ends with the file.',
  deployScopes: ['assets_view'],
  effects: { reads: true },
  in: {
    file: {
      type: 'any',
      required: true,
      help: 'The file: its guid, its name (the newest of that name), or the value of a field of the type file.',
    },
    valid_for: {
      type: 'value',
      default: '1h',
      help: 'How long the link holds: a number with s, m, h or d, at most 366d (direct: 7d).',
    },
    save: {
      type: 'condition',
      default: false,
      help: 'Whether browsers save the file. Otherwise they show images, sound, video and plain text.',
    },
    base: {
      type: 'value',
      default: '',
      help: 'Address of this cluster as clients reach it, such as https://app.example.com, for mails. Empty: the link is a path, for pages and replies of this cluster.',
    },
    direct: {
      type: 'condition',
      default: false,
      help: 'Whether the link leads to the S3 bucket itself (presigned, GET only), if the files are in one that clients can reach. Otherwise the cluster serves the file.',
    },
  },
  out: {
    url: { type: 'value', help: 'The link.' },
    expires: { type: 'date', help: 'When it expires.' },
  },
  settings: {},
  check({ valid_for: time, base, direct }) {
    if (time !== undefined) secondsIn(time, direct === true)
    if (base !== undefined) originIn(base)
  },
  async run({ file, valid_for: time, save, base, direct }, context) {
    const seconds = secondsIn(time, direct)
    const origin = originIn(base)
    const record = await assetRecord('file', assetNamed('file', file), context.session)
    const expires = new Date((Math.floor(context.now() / 1000) + seconds) * 1000)
    const url = await context.services.files.link(record, { seconds, saved: save, direct })
    return { url: url.startsWith('/') ? origin + url : url, expires }
  },
})

function secondsIn(time: string, direct: boolean): number {
  const most = direct ? LONGEST_DIRECT : LONGEST
  const seconds = Math.floor((readDuration(time) ?? 0) / 1000)
  if (seconds < 1 || seconds > most)
    throw new PinError('valid_for', `must be a time from 1s to ${most / DAY}d, such as 30m`)
  return seconds
}

/** Without a slash at its end; empty for none. */
function originIn(base: string): string {
  if (base.trim() === '') return ''
  const url = URL.parse(base.trim())
  const isAddress = url !== null && ['http:', 'https:'].includes(url.protocol)
  if (!isAddress || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new PinError('base', 'must be the address of this cluster, such as https://app.example.com')
  return url.href.replace(/(?<!\/)\/+$/, '')
}
