import { Link } from 'wouter'
import classes from './number-card.module.css'

interface NumberCardProps {
  readonly label: string
  /** Not known yet: a blank of the same height. */
  readonly value: number | undefined
  readonly bad?: boolean
  readonly href: string
}

/** One number that leads to what it counts. */
export function NumberCard({ label, value, bad = false, href }: NumberCardProps) {
  return (
    <Link href={href} className={`surface ${classes.card}`}>
      <span className={classes.value} data-bad={bad || undefined}>
        {value?.toLocaleString() ?? ' '}
      </span>
      <span className={classes.label}>{label}</span>
    </Link>
  )
}
