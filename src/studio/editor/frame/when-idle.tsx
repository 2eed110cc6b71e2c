import { type ReactNode, Suspense, useEffect, useState } from 'react'

/** At the latest after so many milliseconds, also in a browser that cannot say when it is idle. */
const LATEST = 1_000

/**
 * Content that is not visible yet: it is fetched and mounted when the browser has nothing else to do, or when it is `wanted`. Mounted
 * before it opens, a dialog knows where the focus was.
 */
export function WhenIdle({ wanted, children }: { readonly wanted: boolean; readonly children: ReactNode }) {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    if (!('requestIdleCallback' in globalThis)) {
      const timer = setTimeout(() => setIdle(true), LATEST)
      return () => clearTimeout(timer)
    }
    const asked = requestIdleCallback(() => setIdle(true), { timeout: LATEST })
    return () => cancelIdleCallback(asked)
  }, [])
  useEffect(() => {
    if (wanted) setIdle(true)
  }, [wanted])
  return isIdle ? <Suspense fallback={null}>{children}</Suspense> : null
}
