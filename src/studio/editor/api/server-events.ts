export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/**
 * Reads server-sent events out of text as it comes in, in whatever pieces. What is not whole yet waits for the next piece;
 * comments and events without data are passed over.
 */
export function eventReader(): (piece: string) => ServerEvent[] {
  let waiting = ''
  return (piece) => {
    const blocks = (waiting + piece.replaceAll('\r\n', '\n')).split('\n\n')
    waiting = blocks.pop() ?? ''
    return blocks.flatMap(read)
  }
}

function read(block: string): ServerEvent[] {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
    if (field === 'event' && value !== undefined) name = value
    if (field === 'data' && value !== undefined) data.push(value)
  }
  return data.length === 0 ? [] : [{ name, data: data.join('\n') }]
}
