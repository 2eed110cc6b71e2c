import { Menu } from '@mantine/core'
import { canvasTexts } from '../../texts/canvas.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { cut } from '../model/words/block-names.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './stub-chip.module.css'

interface StubChipProps {
  readonly pin: string
  readonly side: 'in' | 'out'
  /** Guids of the blocks at the other ends, with spaces between. */
  readonly others: string
}

/** Characters of a title in a menu. */
const MOST = 60

/** The end of a wire that is not drawn: names the other end, and goes there. With several other ends it lists them. */
export function StubChip({ pin, side, others }: StubChipProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const ends = others.split(' ').map((guid) => ({ guid, title: wordsOf(flow, catalogue, guid).title }))
  const [only, ...more] = ends
  if (!only) return null
  const title = more.length === 0 ? only.title : canvasTexts.blockCount(ends.length)
  const label = side === 'in' ? canvasTexts.comesFrom(pin, title) : canvasTexts.goesTo(pin, title)
  const chip = (onClick?: () => void) => (
    <button
      type="button"
      className={`${classes.stub} nodrag nopan`}
      data-side={side}
      title={label}
      aria-label={label}
      onClick={(event) => {
        event.stopPropagation()
        onClick?.()
      }}
    >
      {title}
    </button>
  )
  if (more.length === 0) return chip(() => editor.focusPin(only.guid, ''))
  return (
    <Menu position="bottom-start" width={280} withinPortal>
      <Menu.Target>{chip()}</Menu.Target>
      <Menu.Dropdown mah="50vh" style={{ overflowY: 'auto' }}>
        {ends.map((end) => (
          <Menu.Item key={end.guid} onClick={() => editor.focusPin(end.guid, '')}>
            {cut(end.title, MOST)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
