import { compileRegexp } from '../go/regexp.ts';
import { defineFunctions } from './define.ts';
import { generateText } from './random-text.ts';

export const randomFunctions = defineFunctions({
  random: {
    parameters: ['string'],
    returns: 'string',
    description: 'A random string that a regular expression matches.',
    example: { expression: "length(random('[a-c]{5}'))", result: 5 },
    volatile: true,
    call: (args) => {
      if (args.text(0) === '') return args.fail('no pattern provided');
      return args.attempt(() => {
        compileRegexp(args.text(0));
        return generateText(args.text(0), args.environment.random);
      });
    },
  },
});
