import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { controlsTexts } from '../texts/shell.ts'

interface RunLinkProps {
  readonly run: string
  readonly label?: string
}

/** Leads to a run on the canvas, with the block that failed. Where its values are no longer kept, to the block alone. */
export function RunLink({ run, label = controlsTexts.run }: RunLinkProps) {
  return (
    <Anchor component={Link} href={`/operate/runs/${run}`} size="sm" title={controlsTexts.showRun(run)}>
      {label}
    </Anchor>
  )
}
