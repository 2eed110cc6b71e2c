import ts from 'typescript'

/** A text in a program that a person would read, and the line where it begins. Values in it are dots: `· rows`. */
export interface ShownText {
  readonly node: ts.Node
  readonly line: number
  readonly text: string
}

/** Attributes and properties whose strings are shown, whatever they look like. */
const shown = new Set(
  `about action alt aria-description aria-label aria-roledescription aria-valuetext caption children description empty error
   heading help hint label legend message nameHelp never nothing nothingFoundMessage note noun offLabel onLabel placeholder summary text
   title tooltip unit what words`.split(/\s+/),
)

/** Properties of dialogs, and also of data: there a single word in lower case is not seen. */
const ofData = new Set(['action', 'text'])

/** Attributes and properties whose strings never are. */
const hidden = new Set(
  `aria-controls aria-describedby aria-keyshortcuts aria-labelledby autoComplete bd bg className d fontFamily
   fontFamilyMonospace href id key multiSelectionKeyCode rel sandbox sizes src style styles textDecoration to transform type viewBox`.split(
    /\s+/,
  ),
)

const showingCalls = new Set(['notifyAbout', 'notifyDone', 'notifyFailed'])

/** Their strings are selectors, keys of a keyboard and names of exports. */
const hidingCalls = new Set(
  'closest endsWith includes matches matchMedia querySelector querySelectorAll screenOf startsWith'.split(
    ' ',
  ),
)

/** Paths of icons, CSS, addresses, command lines, keys of one letter, and names that a standard gives. */
const code =
  /^M\d|var\(--|light-dark\(|^\d+px |minmax\(|(?:max|min)-width|^[A-Z]$|^(?:https?:\/)?\/\S*$|^(?:curl|-[XHd]) |^AbortError$|^Bearer ·$/

/** A word with a capital, two words, a value and a word, or the rest of a sentence. */
const prose =
  /(?:^|[\s(“"·])\p{Lu}\p{Ll}|\p{L}[,.:;)”"]* [(“"]*[\p{L}·]|(?:^|·)[,.:;)”"]* [(“"]*\p{L}{2}|^\(\p{L}{2}|…/u

/**
 * The texts in a file: all of JSX, strings in places that are shown, and strings elsewhere that read like prose. A single
 * word in lower case elsewhere may be an identifier, and is not seen.
 */
export function shownTexts(tree: ts.SourceFile): readonly ShownText[] {
  const found: ShownText[] = []
  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || isType(node)) return
    if (ts.isJsxAttribute(node) && hidden.has(nameOf(node))) return
    const text = textOf(node) ?? nameOfFact(node)
    if (text !== undefined && isShown(node, text)) {
      const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree))
      found.push({ node, line: line + 1, text: text.replace(/\s+/g, ' ').trim() })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

function isType(node: ts.Node): boolean {
  return ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.head.text + node.templateSpans.map(({ literal }) => `·${literal.text}`).join('')
}

/** `<Facts facts={{ Size: bytes(size) }} />` shows the names. */
function nameOfFact(node: ts.Node): string | undefined {
  return ts.isIdentifier(node) && isFact(node) ? node.text : undefined
}

function isFact(node: ts.Node): boolean {
  const { parent } = node
  return (
    ts.isPropertyAssignment(parent) &&
    parent.name === node &&
    ts.isJsxExpression(parent.parent.parent) &&
    ts.isJsxAttribute(parent.parent.parent.parent) &&
    nameOf(parent.parent.parent.parent) === 'facts'
  )
}

function isShown(node: ts.Node, text: string): boolean {
  if (!/\p{L}/u.test(text) || code.test(text)) return false
  if (ts.isJsxText(node)) return !isCode(node)
  const place = placeOf(node)
  return place === 'shown' || (place === 'unknown' && prose.test(text))
}

/** `<Code>doc.owner</Code>`: a sample, not a text. */
function isCode({ parent }: ts.JsxText): boolean {
  return ts.isJsxElement(parent) && parent.openingElement.tagName.getText() === 'Code'
}

/** Whether the place that a string gets to is shown: through parentheses, conditions, and the last of `a ?? 'b'`. */
function placeOf(node: ts.Node): 'shown' | 'hidden' | 'unknown' {
  const { parent } = node
  if (ts.isConditionalExpression(parent)) return parent.condition === node ? 'hidden' : placeOf(parent)
  if (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent) || ts.isSatisfiesExpression(parent))
    return placeOf(parent)
  if (ts.isBinaryExpression(parent)) {
    if (isComparison(parent.operatorToken.kind)) return 'hidden'
    return isAssignment(parent.operatorToken.kind) ? 'unknown' : placeOf(parent)
  }
  if (ts.isJsxExpression(parent)) return ts.isJsxAttribute(parent.parent) ? placeOf(parent) : 'shown'
  if (ts.isTemplateSpan(parent)) return placeOf(parent.parent)
  if (ts.isCaseClause(parent) || ts.isElementAccessExpression(parent)) return 'hidden'
  if (ts.isJsxAttribute(parent)) return byName(nameOf(parent))
  if (ts.isPropertyAssignment(parent)) {
    if (parent.name !== node) return ofData.has(nameOf(parent)) ? 'unknown' : byName(nameOf(parent))
    return isFact(node) ? 'shown' : 'hidden'
  }
  if (ts.isCallExpression(parent)) return ofCall(parent, node)
  if (ts.isArrayLiteralExpression(parent) && ts.isPropertyAccessExpression(parent.parent))
    return parent.parent.name.text === 'includes' ? 'hidden' : 'unknown'
  return 'unknown'
}

function ofCall(
  { expression, arguments: input }: ts.CallExpression,
  node: ts.Node,
): 'shown' | 'hidden' | 'unknown' {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText()
  if (hidingCalls.has(name)) return 'hidden'
  // A step of the editor: its label, what it does, and which others it goes on with.
  if (name === 'run' || name === 'runOnNotes' || name === 'runOnAll')
    return input[0] === node ? 'unknown' : 'hidden'
  return showingCalls.has(name) ? 'shown' : 'unknown'
}

function byName(name: string): 'shown' | 'hidden' | 'unknown' {
  return shown.has(name) ? 'shown' : hidden.has(name) ? 'hidden' : 'unknown'
}

function nameOf({ name }: ts.JsxAttribute | ts.PropertyAssignment): string {
  return name.getText().replace(/^['"]|['"]$/g, '')
}

function isComparison(kind: ts.SyntaxKind): boolean {
  return [
    ts.SyntaxKind.EqualsEqualsEqualsToken,
    ts.SyntaxKind.ExclamationEqualsEqualsToken,
    ts.SyntaxKind.InKeyword,
  ].includes(kind)
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment
}
