import { useEffect, useRef, useState } from 'react'
import { forgetAssets } from '../../api/assets.ts'
import { upload } from '../../api/upload.ts'
import { notifyDone } from '../../controls/notify.ts'
import { assetsTexts } from '../../texts/assets.ts'

export interface RunningUpload {
  readonly id: string
  readonly name: string
  readonly size: number
  /** 0 to 1. */
  readonly share: number
  readonly error?: unknown
}

/** Files on their way, one after the other; one that is done goes, one that failed stays until it was read. */
export function useUploads() {
  const [uploads, setUploads] = useState<readonly RunningUpload[]>([])
  const stops = useRef(new Map<string, AbortController>())
  const last = useRef<Promise<void>>(Promise.resolve())
  useEffect(() => {
    const running = stops.current
    return () => {
      for (const stop of running.values()) stop.abort()
    }
  }, [])
  const change = (id: string, part: Partial<RunningUpload>) =>
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)))
  const dismiss = (id: string) => setUploads((all) => all.filter((one) => one.id !== id))

  const sendOne = async (id: string, file: File, directory: string, signal: AbortSignal) => {
    if (signal.aborted) return
    const body = new FormData()
    body.set('file', file)
    try {
      await upload({
        path: '/_system/assets/stream',
        query: { directory, filename: file.name },
        body,
        signal,
        onProgress: (share) => change(id, { share }),
      })
      dismiss(id)
      notifyDone(assetsTexts.uploadedText(file.name))
      await forgetAssets()
    } catch (error) {
      if (signal.aborted) dismiss(id)
      else change(id, { error })
    } finally {
      stops.current.delete(id)
    }
  }

  return {
    uploads,
    dismiss,
    cancel: (id: string) => {
      stops.current.get(id)?.abort()
      dismiss(id)
    },
    add: (files: readonly File[], directory: string) => {
      for (const file of files) {
        const id = crypto.randomUUID()
        const stop = new AbortController()
        stops.current.set(id, stop)
        setUploads((all) => [...all, { id, name: file.name, size: file.size, share: 0 }])
        last.current = last.current.then(() => sendOne(id, file, directory, stop.signal))
      }
    },
  }
}
