import { useEffect, useState } from 'react'
import { runsTexts } from '../../texts/runs.ts'

interface LeaseProps {
  /** ISO 8601. */
  readonly since: string
  readonly until: string
}

/** How long a paused run still waits. */
export function Lease({ since, until }: LeaseProps) {
  const left = useSecondsLeft(until)
  const whole = Math.max(1, (Date.parse(until) - Date.parse(since)) / 1_000)
  return (
    <span title={runsTexts.timeLeftHelp}>
      <progress value={left} max={whole} aria-label={runsTexts.timeLeft} />{' '}
      <span className="numbers">{runsTexts.secondsLeft(left)}</span>
    </span>
  )
}

function useSecondsLeft(until: string): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.ceil((Date.parse(until) - now) / 1_000))
}
