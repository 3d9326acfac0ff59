import type { Node, PathStep, TextValue } from '../../expression/jmespath/ast.ts';
import { parseExpression } from '../../expression/jmespath/parser.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { type Branch, drawTree } from '../../offline/output/tree.ts';
import { visibleLine } from '../../offline/output/visible.ts';
import type { ExitCode, Io } from '../io.ts';
import { paintFor } from '../output/style.ts';
import { formatSyntaxError, readExpressions } from './expression.ts';

export interface ParseOptions {
  readonly file?: readonly string[] | undefined;
  readonly color?: boolean | undefined;
}

/** `kymera jp parse`: prints the syntax tree of expressions. */
export async function parse(given: readonly string[], options: ParseOptions, io: Io): Promise<ExitCode> {
  const texts = await readExpressions(given, options.file ?? [], io);
  for (const text of texts) {
    try {
      const tree = drawTree(branchOf(parseExpression(text)));
      await io.stdout.write(texts.length > 1 ? `# ${visibleLine(text)}\n${tree}` : tree);
    } catch (error) {
      await io.stderr.write(formatSyntaxError(error, text, paintFor(io.stderr, io, options.color)));
      return 2;
    }
  }
  return 0;
}

/** One line for a node, with its operands as branches. */
function branchOf(node: Node): Branch {
  const { text, below = [] } = describe(node);
  return { text, below: below.map(([role, child]) => withRole(role, child)) };
}

function withRole(role: string, node: Node): Branch {
  const { text, below } = branchOf(node);
  return { text: role === '' ? text : `${role}: ${text}`, below };
}

interface Described {
  readonly text: string;
  readonly below?: readonly (readonly [role: string, node: Node])[] | undefined;
}

function describe(node: Node): Described {
  switch (node.type) {
    case 'path':
      return {
        text:
          node.head === undefined && node.steps.length === 0
            ? 'current (@)'
            : `path ${stepsText(node.steps)}`,
        below: node.head === undefined ? [] : [['of', node.head]],
      };
    case 'literal':
      return { text: `literal ${stringifyJson(node.value)}` };
    case 'bound-text':
      return { text: `text ${valueText(node.text)}` };
    case 'bound-json':
      return { text: 'literal with variables' };
    case 'chain':
      return {
        text: 'sub-expression (.)',
        below: [
          ['of', node.left],
          ['take', node.right],
        ],
      };
    case 'pipe':
      return { text: 'pipe (|)', below: unnamed(node.children) };
    case 'or':
      return { text: 'or (||)', below: unnamed(node.children) };
    case 'and':
      return { text: 'and (&&)', below: unnamed(node.children) };
    case 'list':
      return { text: 'list', below: unnamed(node.children) };
    case 'not':
      return { text: 'not (!)', below: unnamed([node.child]) };
    case 'flatten':
      return { text: 'flatten ([])', below: unnamed([node.child]) };
    case 'reference':
      return { text: 'expression (&)', below: unnamed([node.child]) };
    case 'compare':
      return { text: `compare (${node.operator})`, below: unnamed([node.left, node.right]) };
    case 'hash':
      return { text: 'map', below: node.entries.map(({ key, value }) => [valueText(key), value]) };
    case 'projection':
      return {
        text: 'for each item',
        below: [
          ['of', node.left],
          ['take', node.right],
        ],
      };
    case 'value-projection':
      return {
        text: 'for each value (*)',
        below: [
          ['of', node.left],
          ['take', node.right],
        ],
      };
    case 'filter':
      return {
        text: 'filter ([?])',
        below: [
          ['of', node.left],
          ['where', node.condition],
          ['take', node.right],
        ],
      };
    case 'slice':
      return {
        text: `slice [${node.parts.map((part) => part ?? '').join(':')}]`,
        below: [['of', node.left]],
      };
    case 'call':
      return { text: `function ${node.name}()`, below: unnamed(node.args) };
  }
}

function unnamed(nodes: readonly Node[]): readonly (readonly [string, Node])[] {
  return nodes.map((node) => ['', node]);
}

function stepsText(steps: readonly PathStep[]): string {
  return steps
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      const text = valueText(step);
      return index === 0 ? text : `.${text}`;
    })
    .join('');
}

function valueText(value: TextValue): string {
  if (typeof value !== 'string') {
    return value.parts.map((part) => (typeof part === 'string' ? part : '{{…}}')).join('');
  }
  return /^[A-Za-z_]\w*$/.test(value) ? value : JSON.stringify(value);
}
