/** Longest head of a reply that is waited for. */
const MAX_HEAD = 64 * 1024
/** Of the body of an error. */
const MOST_SHOWN = 300

/**
 * Reads replies of one connection: of each only the status line and the content-length; the body is counted and not
 * looked at, but for the begin of an error's. Feed it the bytes as they come, however they are cut. Throws for what it cannot follow: no HTTP/1.1, no
 * content-length, a head without end.
 */
export function responseScanner(onReply: (status: number, error: string) => void): (chunk: Buffer) => void {
  let unfinished: Buffer | undefined
  let status = 0
  let missing = 0
  let error = ''
  return (input) => {
    const chunk = unfinished === undefined ? input : Buffer.concat([unfinished, input])
    unfinished = undefined
    let at = 0
    while (at < chunk.length) {
      if (missing === 0) {
        const end = chunk.indexOf('\r\n\r\n', at)
        if (end < 0) {
          if (chunk.length - at > MAX_HEAD) throw new Error('The head of a reply does not end.')
          // A copy: the caller uses its buffer again.
          unfinished = Buffer.from(chunk.subarray(at))
          return
        }
        const head = chunk.toString('latin1', at, end)
        status = statusOf(head)
        missing = bodyLength(head, status)
        at = end + 4
        error = status < 400 ? '' : chunk.toString('latin1', at, at + Math.min(missing, MOST_SHOWN))
      }
      const taken = Math.min(missing, chunk.length - at)
      missing -= taken
      at += taken
      if (missing === 0) onReply(status, error)
    }
  }
}

function statusOf(head: string): number {
  if (!head.startsWith('HTTP/1.1 ')) throw new Error(`This is no reply: ${JSON.stringify(head.slice(0, 40))}`)
  return Number(head.slice(9, 12))
}

function bodyLength(head: string, status: number): number {
  if (status === 204 || status === 304) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error('A reply has no content-length.')
  return Number(length)
}
