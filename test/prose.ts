import { extname } from 'node:path'
import ts from 'typescript'

/** One piece of text that a person reads, and the line where it begins. */
export interface Prose {
  readonly line: number
  readonly text: string
}

/**
 * The prose of a file: all of a Markdown file but its code, and of a program its comments, its JSX text and its strings
 * with spaces. Identifiers, keys and strings of one word are code: a scope may be called "nobody". In the catalogue of the
 * studio's texts every string is shown.
 */
export function proseOf(file: string, source: string): readonly Prose[] {
  if (extname(file) === '.md') return markdownProse(source)
  if (extname(file) === '.sh') return commentProse(source, /(?<=^|\s)#[^\n]*/gm)
  return programProse(file, source)
}

/** Whether a file holds texts of the studio. */
export const isCatalogue = (file: string) => file.startsWith('src/studio/texts/')

function markdownProse(source: string): readonly Prose[] {
  const blank = (code: string) => code.replace(/[^\n]/g, ' ')
  const withoutCode = source.replace(/^```[\s\S]*?^```/gm, blank).replace(/`[^`\n]+`/g, blank)
  let line = 1
  return withoutCode.split(/\n\n+/).map((text) => {
    const found = { line, text: joined(text) }
    line += text.split('\n').length + 1
    return found
  })
}

function programProse(file: string, source: string): readonly Prose[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, scriptKind(file))
  const prose: Prose[] = []
  const code = source.split('')
  function visit(node: ts.Node): void {
    const text = literalText(node)
    if (text !== undefined || ts.isRegularExpressionLiteral(node)) {
      const start = node.getStart(tree)
      for (let at = start; at < node.end; at += 1) if (code[at] !== '\n') code[at] = ' '
      if (text !== undefined && (isCatalogue(file) || /\S\s+\S/.test(text)))
        prose.push({ line: lineAt(source, start), text: joined(text) })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return [...prose, ...commentProse(code.join(''), /\/\*[\s\S]*?\*\/|\/\/[^\n]*(\n\s*\/\/[^\n]*)*/g)]
}

/** What a literal says, with a dot for each value of a template. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map(({ literal }) => `·${literal.text}`).join('')
}

function scriptKind(file: string): ts.ScriptKind {
  return file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
}

function commentProse(code: string, comment: RegExp): readonly Prose[] {
  return [...code.matchAll(comment)].map((match) => ({
    line: lineAt(code, match.index),
    text: joined(match[0].replace(/^\s*(\/\*+|\*\/|\*|\/\/|#)/gm, ' ')),
  }))
}

const joined = (text: string) => text.replace(/\s+/g, ' ').trim()

const lineAt = (source: string, offset: number) => source.slice(0, offset).split('\n').length
