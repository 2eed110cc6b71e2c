import { apiTexts } from '../texts/sign-in.ts'
import { errorFromReply, unreachable } from './api-error.ts'
import { address, type CallOptions, studioHeaders, whileSignedIn } from './request.ts'

interface Upload {
  readonly path: string
  readonly query?: CallOptions['query']
  readonly body: Blob | FormData
  /** For a Blob; a form says its own. */
  readonly type?: string
  /** 0 to 1, while it is sent; 1 = the server works on it. */
  readonly onProgress: (share: number) => void
  readonly signal: AbortSignal
}

/** Sends something large. By XMLHttpRequest, since `fetch` cannot say how far it is. Throws ApiError. */
export function upload<T>(what: Upload): Promise<T> {
  return whileSignedIn(() => sendOnce<T>(what))
}

function sendOnce<T>({ path, query, body, type, onProgress, signal }: Upload): Promise<T> {
  return new Promise((resolve, reject) => {
    // While its user signed in again.
    signal.throwIfAborted()
    const request = new XMLHttpRequest()
    request.open('POST', address(path, query))
    for (const [name, value] of Object.entries(studioHeaders())) request.setRequestHeader(name, value)
    if (type !== undefined) request.setRequestHeader('content-type', type)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText))
      else reject(errorFromReply(request.status, request.responseText))
    }
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(new DOMException(apiTexts.cancelled, 'AbortError'))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(body)
  })
}
